/** Recognizes log lines that report a hand-over within the host or network instead of a delivery. */

const filterName = /spam|filter|amavis|scan|clam|defang|milter|disclaimer/i
/** Reports whether the name of a transport or program is that of a content filter. */
export const isFilter = (name: string): boolean => filterName.test(name)

const ourReply = /\b(?:queued|captured|suppressed) as [\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}\b/
/** Recognizes the SMTP reply of this service. Such a message has only arrived here. */
export const isOurReply = (reply: string): boolean => ourReply.test(reply)

/** Addresses of loopback and private networks, where content filters run (RFC 1918 §3, RFC 4193 §3). */
const near = /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|::1$|f[cd])/i
export const isNear = (ip: string): boolean => near.test(ip)
