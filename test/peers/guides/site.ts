/** A site configured by a guide: the daemon, the message of the program, and the checks of its arrival. */
import { execFile, type ExecFileException } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ExecutionContext } from '#test'
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { catchAllInbox, makeDestination, makeLogin, type Login } from '../../support/daemon/provision.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { makeCertificates, type CertificateFiles } from '../../support/web/certificates.ts'

const run = promisify(execFile)
const here = dirname(fileURLToPath(import.meta.url))

/** Returns the first group of a pattern in the text of a guide, outside its code blocks. */
export async function saidIn(guide: string, pattern: RegExp): Promise<string> {
  const text = await readFile(join(here, '../../../admin-api/docs/guides', `${guide}.md`), 'utf8')
  const [, said] = pattern.exec(text) ?? []
  if (said === undefined) throw new Error(`${guide}.md does not say ${String(pattern)}`)
  return said
}

/** Returns the values in the column with this name, by the text in the first column. Uses the first such table of the guide. */
export async function tableIn(guide: string, heading: string): Promise<Readonly<Record<string, string>>> {
  const rows = await saidIn(guide, new RegExp(`^\\| ${heading} +\\| .*\\n\\|[ -|]+\\n((?:\\|.*\\n)+)`, 'm'))
  return Object.fromEntries(rows.matchAll(/^\| (.*?) +\| (.*?) +\|$/gm).map(([, name = '', value = '']) => [name, value]))
}

/** Result of a program. */
export interface Ended {
  readonly code: number
  readonly output: string
}

type Json = Readonly<Record<string, unknown>>

interface Letter {
  readonly subject: string
  readonly to: string
  readonly bcc: string
  readonly text: string
  readonly html: string
  readonly name: string
  readonly content: Buffer
}

const letter: Letter = {
  subject: 'Grüße aus Köln – 価格表',
  to: 'customer@example.org',
  bcc: 'archive@example.org',
  text: 'Schöne Grüße, 東京!',
  html: '<p>Schöne <b>Grüße</b>, 東京!</p>',
  name: 'Preise für März.pdf',
  content: Buffer.from('%PDF-1.7\n\0\r\n.\n\xff\n', 'latin1'),
}

const addressOf = (from: string): string => /<(.*)>/.exec(from)?.[1] ?? from

type Place = Pick<Site, 'folder' | 'daemon' | 'login' | 'certificates'> & { readonly protocol: string }

/** A daemon that accepts logins only over TLS, with a certificate for localhost and a login for example.com. */
export class Site implements AsyncDisposable {
  readonly folder: string
  readonly daemon: Daemon
  readonly login: Login
  readonly certificates: CertificateFiles
  /** Port with STARTTLS, which is 587 in the guides. Programs on the same machine use port 2525 without TLS. */
  readonly starttls: string
  /** Port with TLS from the first octet, which is 465 in the guides. */
  readonly implicitTls: string
  readonly #protocol: string
  readonly #lifetime: AsyncDisposableStack
  readonly #seen = new Set<string>()

  private constructor(place: Place, lifetime: AsyncDisposableStack) {
    this.folder = place.folder
    this.daemon = place.daemon
    this.login = place.login
    this.certificates = place.certificates
    this.starttls = String(portOf(place.daemon.addresses.submission[0]))
    this.implicitTls = String(portOf(place.daemon.addresses.submissions[0]))
    this.#protocol = place.protocol
    this.#lifetime = lifetime
  }

  /** `beside` sets up the daemon for programs on the same machine, with a self-signed certificate. */
  static async start(name: string, { beside = false } = {}): Promise<Site> {
    await using lifetime = new AsyncDisposableStack()
    const folder = lifetime.use(await temporaryFolder(`guide-${name}`)).path
    const certificates = await makeCertificates(folder)
    const settings = { POSTERN_TLS_CERT: certificates.cert, POSTERN_TLS_KEY: certificates.key, POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'never' }
    const env = beside ? { POSTERN_SUBMISSION_CLEARTEXT_AUTH: '' } : settings
    const daemon = lifetime.use(await Daemon.start({ folder, env }))
    const destination = await makeDestination(daemon.rest, { name: 'sandbox', port: 25, mode: 'sandbox' })
    const login = await makeLogin(daemon.rest, destination, { allowed_from_domains: ['example.com'] })
    await writeFile(join(folder, 'letter.pdf'), letter.content)
    return new Site({ folder, daemon, login, certificates, protocol: beside ? 'ESMTPA' : 'ESMTPSA' }, lifetime.move())
  }

  /** Writes a file into the folder and returns its path. */
  async file(name: string, text: string): Promise<string> {
    const path = join(this.folder, name)
    await writeFile(path, text)
    return path
  }

  /** Runs a program of `programs/` that sends the message. */
  async send(command: readonly string[], program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const [name = '', ...expected] = [...command, join(here, 'programs', program), ...args]
    const { subject, to, bcc, text, html, name: LETTER_NAME } = letter
    const given = { LETTER_SUBJECT: subject, LETTER_TO: to, LETTER_BCC: bcc, LETTER_TEXT: text, LETTER_HTML: html, LETTER_NAME }
    const place = { LANG: 'C.UTF-8', SSL_CERT_FILE: this.certificates.ca, LETTER_FILE: join(this.folder, 'letter.pdf') }
    try {
      const { stdout, stderr } = await run(name, expected, {
        cwd: this.folder,
        env: { PATH: process.env['PATH'], ...given, ...place, ...env },
      })
      return { code: 0, output: stdout + stderr }
    } catch (error) {
      const { code, stdout = '', stderr = '' } = error as ExecFileException
      return { code: typeof code === 'number' ? code : -1, output: `${stdout}${stderr}${String(error)}` }
    }
  }

  /** Asserts that the program succeeded and its message arrived once, complete. */
  async assertArrived(t: ExecutionContext, ended: Ended, from: string): Promise<void> {
    const { path, message } = await this.#next(t, ended)
    const { subject, to, bcc, text, html, name, content } = letter
    t.like(message, { subject, intended_from: addressOf(from), intended_to: [to, bcc] })
    t.is(String(message['text']).trim(), text)
    t.true(String(message['html']).includes(html), String(message['html']))
    const files = message['attachments'] as readonly Json[]
    t.deepEqual(
      files.map(({ filename }) => filename),
      [name],
    )
    t.deepEqual((await this.daemon.rest.call('GET', `${path}/attachments/0`)).bytes, content)
    const headers = new Map((message['headers'] as readonly Json[]).map((header) => [header['name'], String(header['value'])]))
    t.is(headers.get('From'), from)
    t.is(headers.get('To'), to)
    t.false(headers.has('Bcc'))
    t.true(headers.get('Received')?.includes(` with ${this.#protocol} `), headers.get('Received'))
  }

  /** Asserts that the program succeeded and the test mail of the guide arrived. */
  async assertHello(t: ExecutionContext, ended: Ended, from: string): Promise<void> {
    const { message } = await this.#next(t, ended)
    t.like(message, { subject: 'Hello', intended_from: addressOf(from), intended_to: ['customer@example.org'] })
    t.is(String(message['text']).trim(), 'It works.')
  }

  /** Asserts that the program failed with this text and no mail arrived. */
  async assertRefused(t: ExecutionContext, { code, output }: Ended, expected: RegExp): Promise<void> {
    t.not(code, 0, output)
    t.regex(output, expected)
    t.deepEqual(await this.#unseen(), [])
  }

  /** Returns the only new message. */
  async #next(t: ExecutionContext, { code, output }: Ended): Promise<{ readonly path: string; readonly message: Json }> {
    t.is(code, 0, output)
    const found = await this.#unseen()
    t.is(found.length, 1, output)
    const [path = ''] = found
    this.#seen.add(path)
    return { path, message: await this.daemon.rest.must('GET', path) }
  }

  async #unseen(): Promise<readonly string[]> {
    const { rest } = this.daemon
    const messages = `/v1/inboxes/${await catchAllInbox(rest)}/messages`
    const rows = await Array.fromAsync(rest.rows(messages))
    return rows.map(({ id }) => `${messages}/${String(id)}`).filter((path) => !this.#seen.has(path))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lifetime.disposeAsync()
  }
}
