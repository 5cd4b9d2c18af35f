# SPDX-License-Identifier: Apache-2.0
"""What ray_embed.py and spark_embed.py share: all but the engine that hands out the work."""
