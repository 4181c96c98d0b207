/** How the lines of a mail server show that a message was handed on within the host or network, and was not delivered. */

const filterName = /spam|filter|amavis|scan|clam|defang|milter|disclaimer/i
/** Whether a transport or program is a content filter by its name. */
export const isFilter = (name: string): boolean => filterName.test(name)

const ourReply = /\b(?:queued|captured|suppressed) as [\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}\b/
/** Whether this service accepted the message, as its submission answers: the message has only come to us. */
export const isOurReply = (words: string): boolean => ourReply.test(words)

/** Of loopback and private networks, in which content filters stand. RFC 1918 §3, RFC 4193 §3. */
const near = /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|::1$|f[cd])/i
export const isNear = (ip: string): boolean => near.test(ip)
