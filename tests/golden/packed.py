# Makes packed.npz, read by tests/unit/t_ckpt.c. Made with numpy 2.4.6.
import numpy as np

np.savez_compressed(
    "packed.npz",
    f=np.asfortranarray(np.arange(6, dtype=">f8").reshape(2, 3)),
    u=np.array([0, 1, 255], np.uint8),
    s=np.array(["a", "bc"]),
)
