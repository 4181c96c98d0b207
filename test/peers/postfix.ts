/** Debian's Postfix with separate configuration, spool, log and port in a temporary folder, independent of the machine's Postfix. */
import { execFile } from 'node:child_process'
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { programPort } from '../support/network/program-port.ts'

const run = promisify(execFile)
const command = '/usr/sbin/postfix'

/** Services of Debian's master.cf, without chroot; smtpd gets its line from the port. */
const services = `
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`

const settings = (folder: string): Readonly<Record<string, string>> => ({
  compatibility_level: '3.6',
  queue_directory: `${folder}/spool`,
  data_directory: `${folder}/data`,
  maillog_file: `${folder}/maillog`,
  maillog_file_prefixes: folder,
  myhostname: 'smarthost.test',
  mydestination: '',
  inet_interfaces: '127.0.0.1',
  inet_protocols: 'ipv4',
  mynetworks: '127.0.0.0/8',
  alias_maps: '',
  alias_database: '',
  local_recipient_maps: '',
  local_header_rewrite_clients: '',
  smtpd_reject_unlisted_recipient: 'no',
  smtpd_relay_restrictions: 'permit_mynetworks, reject',
  smtp_host_lookup: 'native',
  disable_dns_lookups: 'yes',
})

export interface PostfixOptions {
  /** An empty folder that every user may enter. */
  readonly folder: string
  /** Lines of main.cf that add to or replace the usual ones. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A running Postfix; disposal stops it. */
export class Postfix implements AsyncDisposable {
  readonly port: number
  readonly #folder: string

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.port = port
  }

  static async start({ folder, settings: own = {} }: PostfixOptions): Promise<Postfix> {
    const port = await programPort()
    const config = join(folder, 'etc')
    for (const name of ['etc', 'spool', 'data']) await mkdir(join(folder, name), { recursive: true })
    await chown(join(folder, 'data'), await userId('postfix'), 0)
    const lines = Object.entries({ ...settings(folder), ...own }).map(([name, value]) => `${name} = ${value}`)
    await writeFile(join(config, 'main.cf'), `${lines.join('\n')}\n`)
    await writeFile(join(config, 'master.cf'), `127.0.0.1:${String(port)} inet n - n - - smtpd${services}`)
    const postfix = new Postfix(folder, port)
    await run(command, ['-c', config, 'start'])
    return postfix
  }

  /** Parent of all other processes. */
  async masterPid(): Promise<number> {
    return Number(await readFile(join(this.#folder, 'spool', 'pid', 'master.pid'), 'utf8'))
  }

  /** Returns its current log. */
  log(): Promise<string> {
    return readFile(join(this.#folder, 'maillog'), 'utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run(command, ['-c', join(this.#folder, 'etc'), 'stop'])
  }
}

async function userId(name: string): Promise<number> {
  const { stdout } = await run('id', ['-u', name])
  return Number(stdout)
}
