//! System calls by number.

#![allow(unsafe_code, reason = "what is tried here has no wrapper, on purpose")]

use std::io;

/// Makes a system call with up to six numbers.
pub(crate) fn call(number: i64, arguments: &[usize]) -> io::Result<i64> {
    let at = |place: usize| arguments.get(place).copied().unwrap_or(0);
    // SAFETY: arguments are numbers, or addresses of data that the caller keeps alive across the call. Calls that
    // write into memory get addresses of buffers of the caller, or an invalid one.
    let answer = unsafe { libc::syscall(number, at(0), at(1), at(2), at(3), at(4), at(5)) };
    if answer == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer)
}

/// Asks for the own pid through the door for programs of 32 bits.
#[cfg(target_arch = "x86_64")]
pub(crate) fn old_door() -> i64 {
    let answer: i64;
    // SAFETY: getpid of the 32-bit interface takes nothing and returns a number; the interrupt changes rax, r8 to r11.
    unsafe {
        std::arch::asm!(
            "int 0x80",
            inlateout("rax") 20i64 => answer,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    answer
}

/// Ignores a signal, to see the error instead.
pub(crate) fn ignore(signal: i32) {
    // SAFETY: SIG_IGN is no function of ours.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// A mapping of this size, touched so that it is really there.
pub(crate) fn map(bytes: usize, flags: i32) -> io::Result<()> {
    // SAFETY: a new anonymous mapping at an address that the kernel chooses; nothing else lives there.
    let place = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            flags | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping has this size, is writable, and is ours alone.
    unsafe { place.cast::<u8>().write_bytes(1, bytes) };
    Ok(())
}

/// Forks children that wait for the pipe to close; returns how many there were and what stopped it.
pub(crate) fn forks(most: usize) -> (usize, io::Error) {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut children = 0;
    let mut error = io::Error::from_raw_os_error(0);
    while children < most {
        // SAFETY: this program has one thread when it gets here.
        match unsafe { libc::fork() } {
            -1 => {
                error = io::Error::last_os_error();
                break;
            }
            0 => {
                drop(writer);
                let mut byte = 0u8;
                let _ = rustix::io::read(&reader, std::slice::from_mut(&mut byte));
                // SAFETY: ends the child at once.
                unsafe { libc::_exit(0) }
            }
            _ => children += 1,
        }
    }
    drop(writer);
    while rustix::process::wait(rustix::process::WaitOptions::empty()).is_ok() {}
    (children, error)
}
