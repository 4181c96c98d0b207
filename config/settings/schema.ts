/** Every setting of Postern: what it means, what it may be, and its default. */
import { z } from 'zod'
import { fraction, listOf, oneOf, optionalWritten, whole, wholes, written, type TextForm } from './fields.ts'
import { formatAllowedNetwork, formatEndpoint, formatMasterKey, isAddress } from './formats.ts'
import { parseAllowedNetwork, parseDnsServer, parseEndpoint, parseMasterKey } from './formats.ts'
import { planNames } from '../plans/plans.ts'

const mebibyte = 1024 * 1024
const hour = 3600

const endpoint = { parse: parseEndpoint, format: formatEndpoint }
const network = { parse: parseAllowedNetwork, format: formatAllowedNetwork }
const masterKey = { parse: parseMasterKey, format: formatMasterKey }
const sharedSecret = accepting((text) => /^[\u0021-\u007e]{32,256}$/.test(text))
const path = accepting((text) => text.length > 0 && !text.includes('\0'))
const operatorKey = accepting((text) => /^svcop_[A-Za-z0-9_-]{43,128}$/.test(text))
const adminKey = accepting((text) => /^svckey_[A-Za-z0-9_-]{43,128}$/.test(text))
const address = accepting(isAddress)
const destinationId = accepting((text) => /^dst_[0-9a-f]{32}$/.test(text))
const mailbox = accepting((text) => text.length <= 320 && /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(text))
const hostName: TextForm<string> = { parse: parseHostName, format: (text) => text }
const origin: TextForm<string> = { parse: parseOrigin, format: (text) => text }
const mcpAddress: TextForm<string> = { parse: parseMcpAddress, format: (text) => text }
const spfMechanism = accepting((text) =>
  /^(?:(?:include|a|mx):[a-z0-9._-]+(?:\/\d{1,3})?|mx|ip4:[\d.]+(?:\/\d{1,2})?|ip6:[\da-f:.]+(?:\/\d{1,3})?)$/i.test(text),
)
const dnsList = accepting((text) => /^(?:ip|domain)\/(?:major|minor)\/(?:[a-z0-9_-]{1,63}\.){1,10}[a-z0-9-]{2,63}$/.test(text))
const dnsServer: TextForm<string> = { parse: parseDnsServer, format: (text) => text }

const endpointLimit = 'an IP address (IPv6 in brackets) or localhost, with a port, such as 127.0.0.1:8080 (port 0 picks a free one)'
const endpointsLimit = `a list of at most 64 entries, each ${endpointLimit}`
const networksLimit = 'a list of at most 64 networks such as 10.0.0.0/8, 127.0.0.1/32:2600 or [fd00::/8]:587'
const spfLimit =
  'a list of at most 64 SPF mechanisms such as include:_spf.example.net, a:mail.example.net, ip4:192.0.2.1 or ip6:2001:db8::/32'
const dnsServersLimit = 'a list of at most 64 IP addresses, each with or without a port, such as 192.0.2.53 or [2001:db8::53]:5353'
const dnsListsLimit =
  'a list of at most 64 DNS lists, each as ip or domain, major or minor (whether mail is refused for it) and the zone, such as ip/major/zen.spamhaus.org'
const hostNameLimit = 'a host name of letters, digits, hyphens and dots'
const pathLimit = 'the path of a file'

const http = section({
  listen: written(
    { description: 'Where the HTTP side listens: REST, health and metrics.', limit: endpointLimit },
    endpoint,
    '127.0.0.1:8080',
  ),
  maxBodyBytes: whole('Largest body of a request, in bytes.', mebibyte / 16, 256 * mebibyte, 36 * mebibyte),
  maxConnections: whole('Most HTTP connections at a time.', 1, 1_000_000, 10_000),
  maxConnectionsPerAddress: whole(
    'Most HTTP connections at a time from one client address (an IPv6 /64 counts as one); behind a trusted proxy, most requests. Loopback and proxies have no bound.',
    1,
    100_000,
    500,
  ),
  trustProxy: listOf(
    {
      description: 'Proxies whose X-Forwarded-For is believed, as exact addresses.',
      limit: 'a list of at most 64 IP addresses, without ranges and names',
    },
    address,
    [],
  ),
})

const submission = section({
  listen: listOf(
    { description: 'Where SMTP submission with STARTTLS listens (RFC 6409 §3.1). Empty: nowhere.', limit: endpointsLimit },
    endpoint,
    ['127.0.0.1:2525', '127.0.0.1:2587'],
  ),
  implicitTlsListen: listOf(
    { description: 'Where SMTP submission inside TLS listens (RFC 8314 §3.3). Empty: nowhere.', limit: endpointsLimit },
    endpoint,
    ['127.0.0.1:2465'],
  ),
  cleartextAuth: oneOf(
    'Whether AUTH is offered without TLS: never; to clients on a loopback address (loopback); or to these while the certificate is self-made, except on ports 587 and 2587 (auto).',
    ['never', 'loopback', 'auto'],
    'auto',
  ),
  maxMessageBytes: whole('Largest message, in bytes (RFC 1870 §4).', mebibyte / 16, 256 * mebibyte, 25 * mebibyte),
  maxRecipients: whole('Most recipients of one message.', 1, 10_000, 500),
  maxConnections: whole('Most sessions at a time, over all listeners.', 1, 100_000, 1000),
  maxConnectionsPerAddress: whole('Most sessions at a time from one client address (an IPv6 /64 counts as one).', 1, 100_000, 50),
  sessionSeconds: whole(
    'Longest time between messages without one that is taken, in seconds; then the client is told to come again.',
    10,
    24 * hour,
    600,
  ),
  idleSeconds: whole(
    'Longest silence of a client, in seconds (at least 300, RFC 5321 §4.5.3.2.7); 30 while over three quarters of the connections are taken.',
    300,
    hour,
    300,
  ),
  authFailuresPerSession: whole('Failed logins after which a session ends.', 1, 20, 3),
})

const mx = section({
  listen: listOf(
    {
      description:
        'Where other servers deliver bounces and mail for the postmaster (RFC 5321). Port 25 of a public address in production. Empty: nowhere.',
      limit: endpointsLimit,
    },
    endpoint,
    ['127.0.0.1:2526'],
  ),
  maxMessageBytes: whole(
    'Largest message from another server, in bytes (RFC 1870 §4); bounces can return a whole message.',
    mebibyte / 16,
    256 * mebibyte,
    40 * mebibyte,
  ),
  maxConnections: whole('Most sessions with other servers at a time, over all listeners.', 1, 100_000, 200),
  maxConnectionsPerAddress: whole('Most sessions at a time from one server address (an IPv6 /64 counts as one).', 1, 100_000, 20),
})

const inspect = section({
  domain: optionalWritten(
    {
      description: 'Domain of the addresses of deliverability tests. Its MX record leads to mx.listen. Without it, the inbound domain.',
      limit: hostNameLimit,
    },
    hostName,
  ),
  dnsLists: listOf(
    {
      description:
        'Block lists that deliverability tests ask about addresses and domains. Most are free for few questions only, and answer to a name server of your own only. Empty: none.',
      limit: dnsListsLimit,
    },
    dnsList,
    [
      'ip/major/zen.spamhaus.org',
      'ip/minor/bl.spamcop.net',
      'ip/minor/b.barracudacentral.org',
      'ip/minor/psbl.surriel.com',
      'ip/minor/bl.mailspike.net',
      'domain/major/dbl.spamhaus.org',
      'domain/major/multi.surbl.org',
      'domain/minor/multi.uribl.com',
    ],
  ),
  mtaSts: oneOf(
    'Whether deliverability tests fetch the MTA-STS policy of the From domain, over https from its own server. Without it, what the policy asks for is not known, and does not count.',
    ['never', 'fetch'],
    'never',
  ),
})

const imap = section({
  caFile: optionalWritten(
    {
      description: 'PEM file with certificates that are trusted for polled mailboxes, beside those of public authorities.',
      limit: pathLimit,
    },
    path,
  ),
})

const verifyUrl: TextForm<string> = { parse: (text) => parseAddress(text)?.href, format: (text) => text }
const verifyUrlLimit = 'an https address, or an http address in a private network'

const captcha = section({
  turnstileVerifyUrl: written(
    { description: 'Where tokens of Turnstile are verified.', limit: verifyUrlLimit },
    verifyUrl,
    'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  ),
  hcaptchaVerifyUrl: written(
    { description: 'Where tokens of hCaptcha are verified.', limit: verifyUrlLimit },
    verifyUrl,
    'https://api.hcaptcha.com/siteverify',
  ),
})

const tls = section({
  certificateFile: optionalWritten(
    {
      description: 'PEM file with the certificate and its chain. Without it a self-signed certificate is made in the data folder.',
      limit: pathLimit,
    },
    path,
  ),
  keyFile: optionalWritten({ description: 'PEM file with the private key of the certificate.', limit: pathLimit }, path),
})

const allow = section(
  {
    destinations: listOf({ description: 'Loopback and private networks that destinations may be in.', limit: networksLimit }, network, []),
    webhooks: listOf({ description: 'Loopback and private networks that webhooks may be in.', limit: networksLimit }, network, []),
  },
  'lists of networks by class, as in destinations=127.0.0.1/32:2600,10.0.0.0/8;webhooks=127.0.0.1/32',
)

const outbound = section({
  allow: allow.prefault({}),
  dnsServers: listOf({ description: 'DNS servers to ask in place of those of the system.', limit: dnsServersLimit }, dnsServer, []),
  spf: listOf(
    {
      description: 'SPF mechanisms under which mail leaves, shown among the records that sending domains should publish (RFC 7208 §5).',
      limit: spfLimit,
    },
    spfMechanism,
    [],
  ),
})

const delivery = section({
  retrySeconds: wholes('Waits before the second, third … attempt; the last one repeats.', 'seconds', 1, 48 * hour, [
    60,
    300,
    900,
    1800,
    hour,
    2 * hour,
    4 * hour,
  ]),
  unknownRetrySeconds: whole(
    'Shortest wait before an attempt whose outcome is unknown is repeated, in seconds; the peer may have the message already.',
    1,
    48 * hour,
    900,
  ),
  maxAgeHours: whole('Hours after which a message that could not be delivered has failed.', 1, 168, 48),
  jitter: fraction('Share by which each wait is made longer or shorter at random.', 0, 0.5, 0.2),
  connectionsPerDestination: whole('Most connections at a time to a destination that names no number of its own.', 1, 1000, 10),
  connectionsTotal: whole(
    'Most outgoing connections at a time; a project alone gets up to nine tenths of them, a destination alone three quarters.',
    1,
    10_000,
    200,
  ),
  memoryBudgetBytes: whole(
    'Memory for messages kept from acceptance to their first delivery, in bytes.',
    0,
    4096 * mebibyte,
    32 * mebibyte,
  ),
})

const systemMail = section({
  destination: optionalWritten(
    {
      description:
        'Destination of the first organization, live, through which the service sends sign-in links, invitations and notices. Without it, links come from postern login-link.',
      limit: 'the id of a destination, such as dst_0193…',
    },
    destinationId,
  ),
  from: optionalWritten({ description: 'Sender of that mail.', limit: 'a mail address, with or without a name' }, mailbox),
})

const store = section({
  lowDiskBytes: whole('Free space of the data folder below which nothing is accepted, in bytes.', 0, 2 ** 50, 256 * mebibyte),
  ballastBytes: whole('Size of a file that is deleted to recover from a full disk, in bytes; 0 for none.', 0, 2 ** 40, 64 * mebibyte),
})

const billing = section({
  vatBasisPoints: whole('VAT of invoices, in hundredths of a percent (810 is 8.1 %).', 0, 10_000, 0),
})

/** The schema of the configuration file; its output is what `loadConfig` returns. */
export const schema = section({
  dataDir: written({ description: 'Folder of everything that Postern stores.', limit: 'the path of a folder' }, path, './data'),
  baseUrl: optionalWritten(
    {
      description:
        'Address under which people and programs reach the HTTP side. Without it, http:// and the address it listens on, and no tracking of openings and clicks.',
      limit: 'an http or https address without a path, such as https://mail.example.org',
    },
    origin,
  ),
  authUrl: optionalWritten(
    {
      description:
        'Address of the authorization server (OAuth 2.1) and of the pages for people, which the HTTP side serves. Without it, the base URL.',
      limit: 'an http or https address without a path, such as https://auth.example.org',
    },
    origin,
  ),
  mcpUrl: optionalWritten(
    {
      description: 'Address of the MCP endpoint, and so the audience of its access tokens. No effect in this version, which has no MCP.',
      limit: 'an http or https address with any path but /v1, such as https://mail.example.org/mcp',
    },
    mcpAddress,
  ),
  inboundDomain: optionalWritten(
    {
      description:
        'Domain of the return paths by which bounces come back (VERP), and of postmaster@ and abuse@. Its MX record leads to mx.listen.',
      limit: hostNameLimit,
    },
    hostName,
  ),
  smtpHost: optionalWritten(
    {
      description: 'Host name in SMTP greetings and Received headers (RFC 5321 §4.1.1.1). Without it, the name of the machine.',
      limit: hostNameLimit,
    },
    hostName,
  ),
  adminKey: optionalWritten(
    {
      description: 'API key with every right. Without it one is made and printed at the first start.',
      limit: 'svckey_ followed by 43 to 128 letters, digits, hyphens and underscores',
      secret: true,
    },
    adminKey,
  ),
  operatorKey: optionalWritten(
    {
      description:
        'Key of the operator of the service, for /operator/v1: plans, prices and flags of all organizations. Without it these do not exist.',
      limit: 'svcop_ followed by 43 to 128 letters, digits, hyphens and underscores',
      secret: true,
    },
    operatorKey,
  ),
  masterKey: optionalWritten(
    {
      description: 'Key under which stored secrets are encrypted. Without it one is made in the data folder at the first start.',
      limit: '32 random bytes in base64, base64url or hexadecimal (openssl rand -base64 32 makes some)',
      secret: true,
    },
    masterKey,
  ),
  masterKeyFile: optionalWritten({ description: 'File that holds the master key, in place of masterKey.', limit: pathLimit }, path),
  inboxNotifySecret: optionalWritten(
    {
      description:
        'Key that signs the notifications of all virtual inboxes, for receivers of the operator. Without it each inbox has a key of its own, shown in its detail.',
      limit: '32 to 256 visible ASCII characters',
      secret: true,
    },
    sharedSecret,
  ),
  plan: oneOf('Plan of the first organization.', planNames, 'enterprise'),
  signUp: oneOf(
    'Who may become a user: only those who get a link from postern login-link, also whoever is invited to an organization, or anybody.',
    ['closed', 'invited', 'open'],
    'invited',
  ),
  systemMail: systemMail.prefault({}),
  logLevel: oneOf('Least important log lines that are written.', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  logFormat: oneOf(
    'How log lines are written: json, one object a line, for programs, or pretty, for a terminal.',
    ['json', 'pretty'],
    'json',
  ),
  shutdownSeconds: whole('Longest time from SIGTERM to the end of the process, in seconds.', 1, 600, 30),
  http: http.prefault({}),
  submission: submission.prefault({}),
  mx: mx.prefault({}),
  imap: imap.prefault({}),
  inspect: inspect.prefault({}),
  captcha: captcha.prefault({}),
  tls: tls.prefault({}),
  outbound: outbound.prefault({}),
  delivery: delivery.prefault({}),
  store: store.prefault({}),
  billing: billing.prefault({}),
})

/** An object that knows all of its settings. */
function section<Shape extends z.core.$ZodLooseShape>(shape: Shape, limit = `an object with ${Object.keys(shape).join(', ')}`) {
  return z.strictObject(shape, { error: ({ code }) => (code === 'invalid_type' ? limit : undefined) })
}

function accepting(valid: (text: string) => boolean): TextForm<string> {
  return { parse: (text) => (valid(text) ? text : undefined), format: (text) => text }
}

function parseHostName(text: string): string | undefined {
  const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
  const name = text.toLowerCase()
  return name.length <= 253 && name.split('.').every((part) => label.test(part)) ? name : undefined
}

function parseOrigin(text: string): string | undefined {
  const url = parseAddress(text)
  return url?.pathname === '/' ? url.origin : undefined
}

/** Without a slash at the end, because clients compare it letter by letter. */
function parseMcpAddress(text: string): string | undefined {
  const url = parseAddress(text)
  const path = url?.pathname.replace(/\/$/, '') ?? ''
  return url && path !== '/v1' && /^(?:\/[\w.~-]+)*$/.test(path) ? url.origin + path : undefined
}

/** http or https, without user name, query and fragment. */
function parseAddress(text: string): URL | undefined {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined
  return url.search || url.hash ? undefined : url
}
