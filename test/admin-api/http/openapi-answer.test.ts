/** `/openapi.json` for clients: built once, compressed, and cacheable by its ETag. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import test from '#test'
import { BuiltText } from '../../../admin-api/operation/built-text.ts'
import { startDemo } from './demo-api.ts'

async function read(port: number, headers: Record<string, string>) {
  const response = await fetch(`http://127.0.0.1:${port}/openapi.json`, { headers: { 'accept-encoding': 'identity', ...headers } })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test('GET /openapi.json has an ETag and returns 304 for a matching If-None-Match', async (t) => {
  const { port } = await startDemo(t)
  const plain = await read(port, {})
  const etag = plain.headers.get('etag') ?? ''
  t.regex(etag, /^"[\w-]{22}-identity"$/)
  t.is(plain.headers.get('vary'), 'Accept-Encoding')
  t.is(JSON.parse(plain.text).openapi, '3.1.1')
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await read(port, { 'if-none-match': known })
    t.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag], known)
  }
  t.is((await read(port, { 'if-none-match': '"other"' })).status, 200)
  for (const encoding of ['br', 'gzip']) {
    const packed = await read(port, { 'accept-encoding': encoding })
    t.is(packed.headers.get('content-encoding'), encoding)
    t.is(packed.text, plain.text)
  }
})

test('BuiltText is built once, and sent in the best encoding that the client accepts', async (t) => {
  let built = 0
  const text = new BuiltText('text/plain', async () => {
    built++
    return 'words '.repeat(1000)
  })
  const [first] = await Promise.all(['br, gzip', 'gzip', ''].map((accepted) => text.answer({ 'accept-encoding': accepted })))
  t.is(built, 1)
  t.is(brotliDecompressSync(first?.body as Uint8Array).toString(), 'words '.repeat(1000))
  const gzipped = await text.answer({ 'accept-encoding': 'gzip;q=1.0, br;q=0' })
  t.is(gunzipSync(gzipped.body as Uint8Array).length, 6000)
  const plain = await text.answer({ 'accept-encoding': 'gzip;q=0' })
  t.is(plain.headers?.['content-encoding'], undefined)
})
