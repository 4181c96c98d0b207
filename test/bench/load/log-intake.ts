/** Posts a log to the daemon: signed and compressed requests, one at a time. */
import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { Daemon } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { posternOptions } from '../contenders.ts'
import { memoryOf, processorTimeOfTree } from '../resources.ts'
import { perMessage, shippedLog } from './shipped-log.ts'

/** Lines of one request. */
export const requestLines = 100_000

export interface DoorFigures {
  /** Processor time of the daemon, and elapsed time. */
  readonly perSecond: number
  readonly perSecondOfClock: number
  /** Private memory of the daemon in MiB, without mapped files: after the first request, and the peak after any request. */
  readonly peakOfFirst: number
  readonly peak: number
}

/** Posts a Postfix log about mail of others: `requests` requests with `requestLines` lines. */
export async function measureDoor(requests: number): Promise<DoorFigures> {
  await using folder = await temporaryFolder('bench-logs')
  await using daemon = await Daemon.start(posternOptions(folder.path, { POSTERN_LOG_LEVEL: 'warn' }))
  const { pid, http } = daemon.addresses
  const source = await daemon.rest.must('POST', '/v1/ingest-sources', { provider: 'postfix' })
  const path = `/v1/ingest/logs?source=postfix&source_id=${String(source['id'])}`
  const post = async (n: number): Promise<number> => {
    const body = gzipSync(Buffer.concat(await Array.fromAsync(shippedLog('postfix', requestLines, (n * requestLines) / perMessage))))
    const begun = performance.now()
    const { status, text } = await send(`http://${http}${path}`, body, String(source['hmac_secret']))
    if (status !== 202) throw new Error(`the log was answered ${String(status)}: ${text.slice(0, 500)}`)
    return (performance.now() - begun) / 1000
  }
  await post(0)
  const peakOfFirst = await memoryOf(pid, 'RssAnon')
  let peak = peakOfFirst
  const before = await processorTimeOfTree(pid)
  let clock = 0
  for (let n = 1; n <= requests; n++) {
    clock += await post(n)
    peak = Math.max(peak, await memoryOf(pid, 'RssAnon'))
  }
  const cpu = (await processorTimeOfTree(pid)) - before
  const lines = requests * requestLines
  return { perSecond: lines / cpu, perSecondOfClock: lines / clock, peakOfFirst, peak }
}

function send(url: string, body: Buffer, secret: string): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number; readonly text: string }>()
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/x-ndjson', 'content-length': String(body.length) }
  const sent = request(url, { method: 'POST', headers: { ...headers, 'x-service-signature': `sha256=${signature}` } }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () => {
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
    })
  })
  sent.on('error', reject)
  sent.end(body)
  return promise
}
