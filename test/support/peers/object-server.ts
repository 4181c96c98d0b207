/** A server for the Amazon S3 protocol with one bucket in a temporary folder: s3rver, in a separate process. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPort } from '../network/program-port.ts'

const program = createRequire(import.meta.url).resolve('s3rver/bin/s3rver.js')
const folders = import.meta.resolve('./object-server-folders.ts')
/** The only pair of keys that it accepts. */
const key = 'S3RVER'

export class ObjectServer implements AsyncDisposable {
  readonly folder: string
  readonly bucket: string
  readonly port: number
  #server: ChildProcess | undefined

  private constructor(folder: string, bucket: string, port: number) {
    this.folder = folder
    this.bucket = bucket
    this.port = port
  }

  static async start(bucket = 'contents'): Promise<ObjectServer> {
    const server = new ObjectServer(mkdtempSync(join(tmpdir(), 'postern-s3-')), bucket, await programPort())
    await server.startServer()
    return server
  }

  /** Starts at the previous port; resolves when it listens. */
  async startServer(): Promise<void> {
    const args = [
      '-d',
      this.folder,
      '-a',
      '127.0.0.1',
      '-p',
      String(this.port),
      '-s',
      '--no-vhost-buckets',
      '--configure-bucket',
      this.bucket,
    ]
    const server = spawn(process.execPath, ['--import', folders, program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#server = server
    let said = ''
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Standard error must be read, since the server ends if it cannot write to it.
    server.stderr.resume()
    server.stdout.on('data', (text: Buffer) => {
      said += text.toString()
      if (/listening on .*?:\d+\s/.test(said)) resolve()
    })
    server.once('exit', () => reject(new Error(`s3rver did not start: ${said}`)))
    await promise
  }

  async stopServer(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
  }

  /** Returns a value of `POSTERN_STORE_OBJECTS`. */
  address(prefix = ''): string {
    return `s3://${key}:${key}@${this.bucket}/${prefix}?endpoint=http://127.0.0.1:${this.port}&region=us-east-1`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopServer()
    await rm(this.folder, { recursive: true, force: true })
  }
}
