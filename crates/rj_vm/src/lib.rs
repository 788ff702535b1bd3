//! The machine: command processor, SDMA engines, dispatcher, threads, faults. Knows no ioctl.
