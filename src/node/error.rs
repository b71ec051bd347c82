//! Errors cross as a code and a message; `js/errors.js` makes the class.

use crate::error::{CompactionError, ErrorCode};

/// An error on its way to JavaScript: its status becomes `error.code`.
pub(super) type Error = napi::Error<ErrorCode>;

/// What an exported function returns.
pub(super) type Result<T> = std::result::Result<T, Error>;

impl AsRef<str> for ErrorCode {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<CompactionError> for Error {
    fn from(error: CompactionError) -> Self {
        Self::new(error.code, error.message)
    }
}

/// A Node-API call that failed: a fault of this library, unless a getter of the host threw.
pub(super) fn internal(error: &napi::Error) -> Error {
    if error.status == napi::Status::PendingException {
        return CompactionError::invalid("arguments", "values that can be read; a getter of the host threw")
            .into();
    }
    Error::new(ErrorCode::Internal, format!("{}: {}", error.status, error.reason))
}
