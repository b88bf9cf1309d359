"""Who may speak to the studio: the page that it served itself, and whoever holds its token.

Other pages in the same browser can send requests to this machine, too, also under a name of their own that
leads here. So a request names a host that is this one (or it is another site's, whose name was bound anew), it
comes from no other page, and it brings the token: in the address once, then in a cookie that no other page can
send, or in a header.
"""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import final
from urllib.parse import urlsplit

MOST_OF_A_QUESTION = 64 * 2**10  # bytes of a body
MOST_OF_A_FILE = 64 * 2**20
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OWN_PAGE = ("same-origin", "none")  # "none" is an address that a person typed
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@final
class RefusedError(Exception):
    """A request that is not answered: the code of HTTP, and why, in a sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@final
@dataclass(frozen=True)
class Guard:
    """What a request must bring.

    Attributes
    ----------
    address : str
        Where the studio listens. Of an address of all networks every number is a name of this machine, for
        only names can be bound anew.
    port : int
    token : str
    """

    address: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie_name(self) -> str:
        """A name for each port: cookies know machines and no ports."""
        return f"gramlearn-studio-{self.port}"

    @property
    def set_cookie(self) -> str:
        """The header that hands the token to the browser."""
        return f"{self.cookie_name}={self.token}; Path=/; HttpOnly; SameSite=Strict"

    def check(self, headers: Message, changes: bool, in_address: str | None = None) -> None:
        """Raise RefusedError unless the request may be answered.

        Parameters
        ----------
        headers : Message
        changes : bool
            Whether it is one that changes something; with the cookie alone it must say where it comes from.
        in_address : str, optional
            The token in the address, where one stands there.
        """
        self._check_host(headers)
        origin = self._check_origin(headers)
        site = headers.get("Sec-Fetch-Site")
        # From a link elsewhere to the address with the token one may come.
        if site is not None and site not in _OWN_PAGE and in_address is None:
            raise RefusedError(403, "The request comes from another site; only this page may ask.")
        given = headers.get("X-Token")
        by_cookie = given is None and in_address is None
        given = given if given is not None else in_address
        if by_cookie:
            given = self._cookie(headers)
        if given is None or not hmac.compare_digest(given.encode(), self.token.encode()):
            raise RefusedError(
                403,
                "The token is missing or not that of this studio; open the address that `gramlearn studio` "
                "printed when it started.",
            )
        if changes and by_cookie and origin is None and site != "same-origin":
            raise RefusedError(403, "The request does not say which page it comes from.")

    def _check_host(self, headers: Message) -> None:
        named = headers.get_all("Host") or []
        host = _host_of(f"//{named[0]}") if len(named) == 1 else None
        if host is None or not self._is_here(host):
            raise RefusedError(
                421,
                "The host of the request is not this machine; open the address that was printed.",
            )

    def _check_origin(self, headers: Message) -> str | None:
        named = headers.get_all("Origin") or []
        if not named:
            return None
        if named != [f"http://{headers['Host']}"]:
            raise RefusedError(403, "The request comes from another site; only this page may ask.")
        return str(named[0])

    def _is_here(self, host: str) -> bool:
        if host in _LOOPBACK or host == self.address.lower():
            return True
        try:
            return ip_address(self.address).is_unspecified and bool(ip_address(host))
        except ValueError:  # a name
            return False

    def _cookie(self, headers: Message) -> str | None:
        try:
            cookies = SimpleCookie("; ".join(headers.get_all("Cookie") or []))
        except CookieError:
            return None
        found = cookies.get(self.cookie_name)
        return None if found is None else found.value


def length_of_body(headers: Message, most: int) -> int:
    """How many bytes follow, as the header says; RefusedError where it says none, two things, or too many."""
    if headers.get("Transfer-Encoding") is not None:
        raise RefusedError(411, "The body must come in one piece, with its Content-Length.")
    said = headers.get_all("Content-Length") or []
    if len(said) != 1 or not (said[0].isascii() and said[0].isdigit()) or len(said[0]) > 15:
        raise RefusedError(411, "The request must say how long its body is, in one Content-Length.")
    length = int(said[0])
    if length > most:
        raise RefusedError(
            413,
            f"The body has {length:,} bytes; at most {most:,} are taken here. Send it in parts.",
        )
    return length


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address.lower() == "localhost"


def _host_of(address: str) -> str | None:
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - it raises where it is no number
        return parts.hostname if parts.netloc == address[2:] and "@" not in address else None
    except ValueError:
        return None
