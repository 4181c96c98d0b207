/**
 * Section "websites": a page of 10 KB with a validator, in Brotli, over 64 connections, compared with the same file on Debian's nginx. Both
 * run during the whole round and take turns; wrk generates the load.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { siteSettings } from '../../admin-api/sites/site-client.ts'
import { Daemon } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { reasonAgainst } from '../../support/peers/peer-packages.ts'
import { Seeded } from '../../support/seeded.ts'
import { zipOfFiles } from '../../support/web/zip-file.ts'
import type { BenchOptions } from '../options.ts'
import { memoryOf } from '../resources.ts'
import { judge, median, type Section } from '../results.ts'

const host = 'bench.sites.test'
const connections = 64
const turns = 3
const mostSeconds = 5

export async function measureWebsites({ rounds, seconds }: BenchOptions): Promise<Section> {
  const missing = reasonAgainst('nginx') ?? reasonAgainst('wrk')
  if (missing !== undefined) throw new Error(`it needs ${missing}`)
  const rates: Record<'nginx' | 'Postern', number[]> = { nginx: [], Postern: [] }
  let memory = 0
  for (let round = 0; round < rounds; round++) {
    await using folder = await temporaryFolder('bench-websites')
    await using daemon = await Daemon.start({ folder: folder.path, env: siteSettings })
    const ours = `http://${daemon.addresses.sites[0] ?? ''}/page`
    await deploy(daemon)
    await using nginx = await startNginx(folder.path, await fetched(ours))
    for (let turn = 0; turn < turns; turn++) {
      rates.nginx.push(await load(nginx.address, Math.min(seconds, mostSeconds)))
      rates.Postern.push(await load(ours, Math.min(seconds, mostSeconds)))
    }
    memory = Math.max(memory, await memoryOf(daemon.addresses.pid, 'VmHWM'))
  }
  const ratio = median(rates.Postern) / median(rates.nginx)
  return {
    name: 'websites',
    lines: [
      `GET of a page of 10 KB, in Brotli, with a validator, by ${connections} connections.`,
      `  nginx    ${Math.round(median(rates.nginx))} requests/s`,
      `  Postern  ${Math.round(median(rates.Postern))} requests/s, at most ${Math.round(memory)} MiB`,
    ],
    verdicts: [judge('pages of websites: >= 0.3 x nginx', ratio, '>=', 0.3, 'x')],
    data: { rates, ratio, memory },
  }
}

/** Text with the compressibility of web pages. */
function page(): string {
  const random = new Seeded(1)
  let html = ''
  while (html.length < 10_240)
    html += `<p class="c${Math.floor(random.fraction() * 90)}">${random.fraction().toString(36)} and some words</p>\n`
  return html.slice(0, 10_240)
}

async function deploy({ rest }: Daemon): Promise<void> {
  const { id } = await rest.must('POST', '/v1/sites', { slug: 'bench' })
  const made = await rest.call('POST', `/v1/sites/${String(id)}/deploys?activate=true`, zipOfFiles({ 'page.html': page() }), {
    'content-type': 'application/zip',
  })
  if (made.status !== 201) throw new Error(`the deploy was refused: ${made.bytes.toString()}`)
}

const run = promisify(execFile)

/** The compressed octets. */
async function fetched(url: string): Promise<Buffer> {
  const options = { encoding: 'buffer', maxBuffer: 1_048_576 } as const
  const { stdout } = await run('curl', ['-sf', '-H', `Host: ${host}`, '-H', 'Accept-Encoding: br', url], options)
  return stdout
}

/** Requests a second. */
async function load(url: string, seconds: number): Promise<number> {
  const headers = ['-H', `Host: ${host}`, '-H', 'Accept-Encoding: br']
  const { stdout } = await run('wrk', ['-c', String(connections), '-t', '1', '-d', String(seconds), ...headers, url])
  if (/Non-2xx/.test(stdout)) throw new Error(stdout)
  return Number(/^Requests\/sec:\s+(\S+)$/m.exec(stdout)?.[1])
}

/** Debian's configuration, except for the log and the number of requests per connection. */
async function startNginx(folder: string, octets: Buffer): Promise<AsyncDisposable & { readonly address: string }> {
  const port = await programPort()
  const name = `${createHash('sha256').update(octets).digest('hex').slice(0, 8)}.html`
  await writeFile(join(folder, name), octets)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join(' ')
  const user = process.getuid?.() === 0 ? 'user root;' : '' // needed to read the folder
  const settings = `daemon off; ${user} worker_processes auto; pid ${join(folder, 'nginx.pid')}; error_log ${join(folder, 'nginx.log')};
events { worker_connections 768; }
http { sendfile on; tcp_nopush on; access_log off; default_type text/html; keepalive_requests 1000000000; ${paths}
  server { listen 127.0.0.1:${port}; root ${folder}; add_header Content-Encoding br; add_header Cache-Control "public, max-age=0"; } }\n`
  const file = join(folder, 'nginx.conf')
  await writeFile(file, settings)
  const child = spawn('/usr/sbin/nginx', ['-c', file, '-p', folder], { stdio: 'ignore' })
  const address = `http://127.0.0.1:${port}/${name}`
  await run('curl', ['-sf', '-o', '/dev/null', '--retry', '20', '--retry-connrefused', '--retry-delay', '1', address])
  return {
    address,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
