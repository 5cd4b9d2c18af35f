#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# targets/cortex-m/boards/nucleo-h743zi/flash.sh FIRMWARE.elf: writes a firmware into the board's flash, with OpenOCD or pyOCD.
set -euo pipefail
if [ $# -ne 1 ] || [ ! -f "$1" ]; then
  echo "Usage: targets/cortex-m/boards/nucleo-h743zi/flash.sh FIRMWARE.elf" >&2
  exit 1
fi
if command -v openocd >/dev/null; then
  exec openocd -f board/st_nucleo_h743zi.cfg -c "program {$1} verify reset exit"
fi
if command -v pyocd >/dev/null; then
  exec pyocd flash --target stm32h743zitx "$1"
fi
echo "Neither openocd (Debian: openocd) nor pyocd (PyPI: pyocd) is installed." >&2
exit 1
