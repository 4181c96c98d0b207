/** Debian's Dovecot 2.3 as a child process of the test, with separate configuration, mail, log and ports in a temporary folder. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeCertificates, type CertificateFiles } from '../support/web/certificates.ts'
import { waitFor, waiting } from '../support/waits.ts'
import { programPort } from '../support/network/program-port.ts'

const run = promisify(execFile)
const command = '/usr/sbin/dovecot'

export const dovecotPassword = 'correct-horse'

export interface DovecotOptions {
  /** An empty folder that every user may enter. */
  readonly folder: string
  /** Owner of the mail; the user that delivers it. */
  readonly owner?: { readonly uid: number; readonly gid: number }
  /** True if the port without TLS offers STARTTLS (default). */
  readonly starttls?: boolean
  /** Path of a socket for login checks of other servers, such as Postfix: any user with `dovecotPassword`. */
  readonly authSocket?: string
}

const settings = (
  folder: string,
  files: CertificateFiles,
  ports: readonly [number, number],
  { owner, starttls, authSocket }: DovecotOptions,
): string => `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1
ssl = ${starttls === false ? 'no' : 'yes'}
ssl_cert = <${files.cert}
ssl_key = <${files.key}
disable_plaintext_auth = no
auth_failure_delay = 0
first_valid_uid = 1
mail_location = maildir:${folder}/mail/%u
passdb {
  driver = static
  args = password=${dovecotPassword}
}
userdb {
  driver = static
  args = uid=${owner?.uid ?? 65534} gid=${owner?.gid ?? 65534} home=${folder}/home
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${ports[0]}
  }
  inet_listener imaps {
    port = ${starttls === false ? 0 : ports[1]}
    ssl = yes
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
${authSocket === undefined ? '' : `service auth {\n  unix_listener ${authSocket} {\n    mode = 0666\n  }\n}\n`}`

/** A running Dovecot with any user and one password; disposal stops it. */
export class Dovecot implements AsyncDisposable {
  /** Without TLS, with STARTTLS. */
  readonly port: number
  readonly tlsPort: number
  /** The authority that clients must trust. The certificate is for `localhost` and 127.0.0.1. */
  readonly ca: string
  readonly #folder: string
  readonly #owner: { readonly uid: number; readonly gid: number }
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, ports: readonly [number, number], ca: string, { folder, owner }: DovecotOptions) {
    this.#child = child
    this.#folder = folder
    this.#owner = owner ?? { uid: 65534, gid: 65534 }
    this.port = ports[0]
    this.tlsPort = ports[1]
    this.ca = ca
  }

  static async start(options: DovecotOptions): Promise<Dovecot> {
    const { folder } = options
    for (const name of ['run', 'state', 'mail', 'home', 'tls']) await mkdir(join(folder, name), { recursive: true })
    const files = await makeCertificates(join(folder, 'tls'))
    for (let tries = 1; ; tries++) {
      const ports = [await programPort(), await programPort()] as const
      await writeFile(join(folder, 'dovecot.conf'), settings(folder, files, ports, options))
      const child = spawn(command, ['-F', '-c', join(folder, 'dovecot.conf')], { stdio: 'ignore' })
      const dovecot = new Dovecot(child, ports, files.ca, options)
      await dovecot.#own('mail')
      await dovecot.#own('home')
      const listens = async (): Promise<boolean | undefined> => (child.exitCode === null ? (await answers(ports[0])) || undefined : false)
      if (await waitFor('Dovecot listens', listens)) return dovecot
      // another process has used one of the ports in the meantime
      if (tries === 3) throw new Error(`Dovecot does not start: ${await dovecot.log()}`)
    }
  }

  /** Parent of all other processes. */
  get pid(): number {
    return this.#child.pid ?? NaN
  }

  /** Returns the Maildir of a user, for programs that deliver into it. */
  maildir(user: string): string {
    return join(this.#folder, 'mail', user)
  }

  /** Puts a mail into a mailbox, INBOX by default. */
  async deliver(user: string, mail: string, mailbox?: string): Promise<void> {
    const base = mailbox === undefined ? this.maildir(user) : join(this.maildir(user), `.${mailbox}`)
    const name = `${Date.now()}.${String(++this.#delivered)}.test`
    for (const part of ['', 'tmp', 'new', 'cur']) await mkdir(join(base, part), { recursive: true })
    await writeFile(join(base, 'tmp', name), mail)
    await rename(join(base, 'tmp', name), join(base, 'new', name))
    await run('chown', ['-R', `${this.#owner.uid}:${this.#owner.gid}`, this.maildir(user)])
  }
  #delivered = 0

  /** File names in a mailbox, which contain the flags. */
  async files(user: string): Promise<string[]> {
    const parts = ['new', 'cur'].map((part) => readdir(join(this.maildir(user), part)).catch(() => [] as string[]))
    return (await Promise.all(parts)).flat()
  }

  /** Removes the nth delivered mail from the mailbox, like another program. */
  async remove(user: string, nth: number): Promise<void> {
    for (const part of ['new', 'cur'])
      for (const name of await readdir(join(this.maildir(user), part)))
        if (name.includes(`.${String(nth)}.test`)) await rm(join(this.maildir(user), part, name))
  }

  /** Closes the connections of a user. */
  async kick(user: string): Promise<void> {
    await run('doveadm', ['-c', join(this.#folder, 'dovecot.conf'), 'kick', user])
  }

  /** Makes the server renumber the mails of INBOX with this UIDVALIDITY. */
  async renumber(user: string, uidValidity: number): Promise<void> {
    const maildir = this.maildir(user)
    for (const name of await readdir(maildir)) if (name.startsWith('dovecot')) await rm(join(maildir, name))
    await writeFile(join(maildir, 'dovecot-uidlist'), `3 V${uidValidity} N1\n`)
    await chown(join(maildir, 'dovecot-uidlist'), this.#owner.uid, this.#owner.gid)
  }

  log(): Promise<string> {
    return readFile(join(this.#folder, 'log'), 'utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await waiting('Dovecot ends', ended)
  }

  async #own(name: string): Promise<void> {
    await chown(join(this.#folder, name), this.#owner.uid, this.#owner.gid)
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('error', () => undefined)
  const greeted = once(socket, 'data').then(
    () => true,
    () => false,
  )
  return greeted.finally(() => socket.destroy())
}
