/** Pebble, the ACME test server of Let's Encrypt (RFC 8555), on loopback, with a name server that resolves all names to this machine. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { waiting } from '../../support/waits.ts'
import type { CertificateFiles } from '../../support/web/certificates.ts'
import { NameServer } from '../../support/web/name-server.ts'

export interface PebbleOptions {
  readonly folder: string
  /** The certificate of the server itself. */
  readonly files: CertificateFiles
  /** Ports of the directory and of the management. */
  readonly ports: readonly [number, number]
  /** Ports for validation by HTTP-01 and TLS-ALPN-01. */
  readonly httpPort: number
  readonly tlsPort: number
  /** Requires an external account: MAC keys by key id. */
  readonly external?: Readonly<Record<string, string>>
  /** Lifetime of certificates in seconds; 90 days by default. */
  readonly lifetimeSeconds?: number
}

const usualLifetimeSeconds = 90 * 24 * 3600

export class Pebble implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #names: NameServer
  readonly #management: number
  readonly #files: CertificateFiles
  /** Output of the process. */
  readonly log: string[] = []

  private constructor(child: ChildProcess, names: NameServer, management: number, files: CertificateFiles) {
    this.#child = child
    this.#names = names
    this.#management = management
    this.#files = files
  }

  /** Resolves when the directory responds. `names` resolve to this machine. */
  static async start(options: PebbleOptions, names: readonly string[]): Promise<Pebble> {
    const { folder, files, ports, httpPort, tlsPort, external, lifetimeSeconds = usualLifetimeSeconds } = options
    const [port, management] = ports
    const config = {
      pebble: {
        listenAddress: `127.0.0.1:${port}`,
        managementListenAddress: `127.0.0.1:${management}`,
        ...{ certificate: files.cert, privateKey: files.key, httpPort, tlsPort, ocspResponderURL: '' },
        ...{ externalAccountBindingRequired: external !== undefined, externalAccountMACKeys: external ?? {} },
        certificateValidityPeriod: lifetimeSeconds,
      },
    }
    const path = join(folder, `pebble-${port}.json`)
    await writeFile(path, JSON.stringify(config))
    const server = await NameServer.start(Object.fromEntries(names.map((name) => [`${name} A`, ['127.0.0.1']])))
    const child = spawn('pebble', ['-strict', '-config', path, '-dnsserver', server.address], {
      // refuses a share of the nonces, as RFC 8555 §6.5 allows at any time
      env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '15' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const pebble = new Pebble(child, server, management, files)
    const listens = Promise.withResolvers<void>()
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        pebble.log.push(line)
        if (line.includes('ACME directory available at')) listens.resolve()
      })
    child.once('exit', () => listens.reject(new Error(`pebble ended:\n${pebble.log.join('\n')}`)))
    await waiting('pebble listens', listens.promise)
    return pebble
  }

  /** Root certificate of this run, in PEM. */
  async root(): Promise<string> {
    const asked = request({ host: '127.0.0.1', port: this.#management, path: '/roots/0', ca: await readFile(this.#files.ca) })
    asked.end()
    const [response] = await once(asked, 'response')
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    return text
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit')
      this.#child.kill('SIGKILL')
      await exited
      await this.#names[Symbol.asyncDispose]()
    }
  }
}
