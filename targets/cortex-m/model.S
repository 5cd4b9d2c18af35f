/* SPDX-License-Identifier: Apache-2.0
 * The model file as constant data of the image. */
    .section .rodata.embert_firmware_model, "a"
    .balign 64
    .global embert_firmware_model
embert_firmware_model:
    .incbin EMBERT_FIRMWARE_MODEL
    .global embert_firmware_model_end
embert_firmware_model_end:
    .byte 0
