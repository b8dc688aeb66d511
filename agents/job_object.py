"""Windows: a job that ends with the hub, whatever ends the hub, and takes every process inside with it.

The kernel closes the handle when the hub dies; KILL_ON_JOB_CLOSE then ends the agent and all it started. Nothing here
runs on other systems. Constants and structures: Win32 ``JOBOBJECT_EXTENDED_LIMIT_INFORMATION``.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _KILL_ON_JOB_CLOSE = 0x2000
    _EXTENDED_LIMIT_INFORMATION = 9
    _PROCESS_SET_QUOTA_AND_TERMINATE = 0x0100 | 0x0001

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    def _kernel() -> ctypes.WinDLL:
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateJobObjectW.restype = wintypes.HANDLE
        kernel.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
        kernel.SetInformationJobObject.argtypes = (wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD)
        kernel.OpenProcess.restype = wintypes.HANDLE
        kernel.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
        kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
        kernel.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
        kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
        return kernel

    class JobObject:
        """One agent's job. Raises OSError when the process can't be put into it."""

        def __init__(self, pid: int) -> None:
            self._kernel = _kernel()
            self._handle = self._checked(self._kernel.CreateJobObjectW(None, None))
            limits = _ExtendedLimits()
            limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
            self._checked(
                self._kernel.SetInformationJobObject(
                    self._handle, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
                )
            )
            process = self._checked(self._kernel.OpenProcess(_PROCESS_SET_QUOTA_AND_TERMINATE, False, pid))
            try:
                self._checked(self._kernel.AssignProcessToJobObject(self._handle, process))
            finally:
                self._kernel.CloseHandle(process)

        def terminate(self) -> None:
            """End everything in the job now."""
            self._kernel.TerminateJobObject(self._handle, 1)

        def close(self) -> None:
            """Let go of the job, which ends what is still inside."""
            self._kernel.CloseHandle(self._handle)

        @staticmethod
        def _checked(value: int) -> int:
            if not value:
                raise ctypes.WinError(ctypes.get_last_error())
            return value

else:

    class JobObject:
        """Only Windows has jobs; elsewhere groups and the reaper do this work."""

        def __init__(self, pid: int) -> None:
            raise NotImplementedError(f"no job objects on {sys.platform} (process {pid})")

        def terminate(self) -> None:
            """See the Windows class."""

        def close(self) -> None:
            """See the Windows class."""
