/** The questions of the setup. A flag, the current configuration or the user answers each of them. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { isLoopback, type Config } from '#config/settings/load.ts'
import { parseDomain, parseExactAddress } from '#core/addresses.ts'
import { exitCodes } from '../../process/lifecycle.ts'
import { StartRefused } from '../../process/start-refused.ts'

/** Values of flags; the setup asks for absent ones. */
export interface SetupArguments {
  readonly domain: string | undefined
  readonly host: string | undefined
  readonly email: string | undefined
  readonly url: string | undefined
  /** `yes` or `no`. */
  readonly public: string | undefined
  /** `acme`, `files` or `proxy`. */
  readonly certificate: string | undefined
  readonly certificateFile: string | undefined
  readonly keyFile: string | undefined
  readonly spf: string | undefined
  readonly config: string | undefined
  /** Second file for the zone records. */
  readonly zone: string | undefined
  /** Servers for the connection test as `host:port`; `none` skips the test. */
  readonly outgoing: readonly string[]
  /** Replaces the zone file if it exists. */
  readonly force: boolean
  /** Accepts every default and writes the file. */
  readonly yes: boolean
}

const certificateSources = ['acme', 'files', 'proxy'] as const

/** Source of the certificate for other machines. With `proxy`, the files are for the mail ports. */
export interface CertificateSource {
  /** ACME, files, or a reverse proxy on this machine that serves HTTPS with its own certificate. */
  readonly from: (typeof certificateSources)[number]
  readonly files: { readonly certificateFile: string; readonly keyFile: string } | undefined
}

/** All answers. */
export interface Answers {
  /** Domain of the senders. */
  readonly domain: string
  /** Public name of this machine. */
  readonly host: string
  /** Mail address of the operator. */
  readonly email: string
  /** Public address of the HTTP listener; null for none. */
  readonly url: string | null
  /** True if other machines submit mail here and bounces return here. */
  readonly isPublic: boolean
  /** Undefined if no other machine connects. */
  readonly certificate: CertificateSource | undefined
  /** SPF mechanisms of the servers that send the mail. */
  readonly spf: readonly string[]
}

/** Reads answers from a terminal or a file. */
export class Questions implements Disposable {
  readonly #lines: AsyncIterator<string>
  readonly #reader: ReturnType<typeof createInterface>
  readonly #out: { write(text: string): unknown }
  readonly #takesDefaults: boolean

  constructor(input: Readable, out: { write(text: string): unknown }, takesDefaults: boolean) {
    this.#reader = createInterface({ input, terminal: false })
    this.#lines = this.#reader[Symbol.asyncIterator]()
    this.#out = out
    this.#takesDefaults = takesDefaults
  }

  /** Asks until the answer is valid. An empty answer selects the default. Throws `StartRefused` at the end of the input. */
  async ask<T>(flag: string, question: string, fallback: string | undefined, read: (text: string) => T | undefined): Promise<T> {
    if (this.#takesDefaults) {
      const taken = fallback === undefined ? undefined : read(fallback)
      if (taken !== undefined) return taken
      throw new StartRefused(`${flag} has no default. Enter a value.`, exitCodes.usage)
    }
    for (;;) {
      this.#out.write(`${question}${fallback === undefined || fallback === '' ? '' : ` [${fallback}]`} `)
      const line = await this.#lines.next()
      if (line.done)
        throw new StartRefused(`\nThe input ended without an answer. Set ${flag}, or use --yes to accept every default.`, exitCodes.usage)
      const given = line.value.trim()
      const answer = given === '' && fallback === undefined ? undefined : read(given === '' ? (fallback ?? '') : given)
      if (answer !== undefined) return answer
      this.#out.write('The answer is invalid. Try again.\n')
    }
  }

  [Symbol.dispose](): void {
    this.#reader.close()
  }
}

const readHost = (text: string): string | undefined => {
  const name = parseDomain(text.trim().replace(/\.$/, ''))
  return name?.includes('.') ? name : undefined
}
const readUrl = (text: string): string | undefined => {
  if (text === '' || text === 'none') return 'none'
  const url = URL.parse(text)
  return url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '' ? url.origin : undefined
}
const readYes = (text: string): boolean | undefined => (/^y(?:es)?$/i.test(text) ? true : /^no?$/i.test(text) ? false : undefined)
const readMechanisms = (text: string): readonly string[] => (text === 'none' ? [] : text.split(/[\s,]+/).filter((one) => one !== ''))

const readSource = (text: string): CertificateSource['from'] | undefined => certificateSources.find((one) => one === text)
const readPath = (text: string): string | undefined => (text === '' ? undefined : text === 'none' ? 'none' : resolve(text))

const readEmail = (text: string): string | undefined => parseExactAddress(text)?.address

/** Checks all flags before the first question. Throws `StartRefused` for an invalid one. */
function requireReadable({ domain, host, email, url, public: isPublic, certificate, spf }: SetupArguments): void {
  const flags: readonly (readonly [name: string, given: string | undefined, read: (text: string) => unknown, form: string])[] = [
    ['domain', domain, readHost, 'a domain such as example.com'],
    ['host', host, readHost, 'a name such as mail.example.com'],
    ['email', email, readEmail, 'a mail address such as ada@example.com'],
    ['url', url, readUrl, 'an address such as https://mail.example.com, or none'],
    ['public', isPublic, readYes, 'yes or no'],
    ['certificate', certificate, readSource, 'acme, files or proxy'],
    ['spf', spf, readMechanisms, 'SPF mechanisms such as include:_spf.provider.example, or none'],
  ]
  const wrong = flags.find(([, given, read]) => given !== undefined && read(given.trim()) === undefined)
  if (!wrong) return
  const [name, given, , form] = wrong
  throw new StartRefused(`--${name} must be ${form}; got ${JSON.stringify(given)}.`, exitCodes.usage)
}

type Take = <T>(
  flag: readonly [name: string, given: string | undefined],
  question: string,
  fallback: string | undefined,
  read: (text: string) => T | undefined,
) => Promise<T>

/** Asks the questions in this order. The current configuration gives the defaults. */
export async function answersTo(args: SetupArguments, config: Config, questions: Questions): Promise<Answers> {
  requireReadable(args)
  const take: Take = async ([flag, given], question, fallback, read) =>
    (given === undefined ? undefined : read(given.trim())) ?? questions.ask(`--${flag}`, question, fallback, read)
  const domain = await take(['domain', args.domain], 'Which domain do you send mail from, such as example.com?', undefined, readHost)
  const named = readHost(config.smtpHost) ?? readHost(hostname()) ?? `mail.${domain}`
  const host = await take(['host', args.host], 'What is the public name of this machine?', named, readHost)
  const email = await take(
    ['email', args.email],
    'What is the mail address of the operator, who gets alerts and may sign in?',
    config.doctor.mailTo ?? config.operators[0] ?? `postmaster@${domain}`,
    readEmail,
  )
  const url = await take(
    ['url', args.url],
    'What is the public https address of the dashboard (none: only this machine)?',
    config.baseUrl ?? 'none',
    readUrl,
  )
  const isPublic = await take(
    ['public', args.public],
    'Do other machines submit mail here (ports 587 and 465), and do bounces return here (port 25)? yes or no',
    config.inboundDomain === null ? 'no' : 'yes',
    readYes,
  )
  const isHttps = url.startsWith('https:') && !isLoopback(new URL(url).hostname)
  const certificate = isPublic || isHttps ? await certificateFrom(args, config, take, { host, isPublic }) : undefined
  const spf = await take(
    ['spf', args.spf],
    'Which SPF mechanism does your provider use, such as include:_spf.provider.example (none: not known yet)?',
    config.outbound.spf.join(' ') || 'none',
    readMechanisms,
  )
  return { domain, host, email, url: url === 'none' ? null : url, isPublic, certificate, spf }
}

/** Has no default in a first setup, because ordering a certificate accepts the authority's terms of service. */
async function certificateFrom(
  args: SetupArguments,
  { acme, tls, baseUrl, http }: Config,
  take: Take,
  { host, isPublic }: Pick<Answers, 'host' | 'isPublic'>,
): Promise<CertificateSource> {
  const isOfProxy = baseUrl?.startsWith('https:') === true && http.tlsListen === null
  const own = tls.certificateFile === null ? undefined : 'files'
  const from = await take(
    ['certificate', args.certificate],
    [
      'Where does the certificate come from?',
      `  acme   Postern orders it from ${new URL(acme.directoryUrl).hostname}, whose terms of service you agree to; port 443 of ${host} must reach this machine`,
      '  files  PEM files that you have',
      '  proxy  a reverse proxy on this machine serves HTTPS',
      'acme, files or proxy?',
    ].join('\n'),
    acme.challenge === 'off' ? (isOfProxy ? 'proxy' : own) : 'acme',
    readSource,
  )
  if (from === 'acme' || (from === 'proxy' && !isPublic)) return { from, files: undefined }
  const none = from === 'proxy' ? ' (none: not available yet)' : ''
  const path = (flag: string, given: string | undefined, what: string, known: string | null): Promise<string> =>
    take([flag, given], `Which PEM file contains the ${what}${none}?`, known ?? (none === '' ? undefined : 'none'), (text) => {
      const read = readPath(text)
      return read === 'none' && none === '' ? undefined : read
    })
  const certificateFile = await path('certificate-file', args.certificateFile, `certificate of ${host} and its chain`, tls.certificateFile)
  if (certificateFile === 'none') return { from, files: undefined }
  const keyFile = await path('key-file', args.keyFile, 'private key of the certificate', tls.keyFile)
  return { from, files: keyFile === 'none' ? undefined : { certificateFile, keyFile } }
}
