import test from '#test'
import { ClientMetadataDocuments, isMetadataAddress } from '#core/oauth/clients/client-metadata-documents.ts'
import type { FetchedDocument } from '#core/outbound/fetch.ts'
import { FakeClock } from '../../support/fake-clock.ts'

test('isMetadataAddress() accepts normalized https URLs with a path', (t) => {
  for (const good of [
    'https://a.example/c',
    'https://a.example/c.json?v=1',
    'https://a.example:8443/c',
    'https://xn--mnchen-3ya.example/c',
  ])
    t.true(isMetadataAddress(good), good)
  const bad = [
    'http://a.example/c',
    'https://a.example',
    'https://a.example/',
    'https://a.example/c#',
    'https://a.example/c#x',
    'https://u@a.example/c',
    'https://u:p@a.example/c',
    'https://a.example/x/../c',
    'https://a.example/./c',
    'https://a.example/%2e%2e/c',
    'https://A.example/c',
    'https://a.example:443/c',
    'https://a.example:25/c',
    'https://a.example\\c',
    'https://münchen.example/c',
    'https://a.example/a b',
    ' https://a.example/c',
    'somebody',
    `https://a.example/${'c'.repeat(2048)}`,
  ]
  for (const one of bad) t.false(isMetadataAddress(one), one)
})

const address = '192.0.2.1'

const documentOf = (id: string, cacheControl?: string): FetchedDocument => ({
  status: 200,
  headers: { 'content-type': 'application/json', ...(cacheControl !== undefined && { 'cache-control': cacheControl }) },
  text: JSON.stringify({ client_id: id, redirect_uris: ['https://a.example/back'] }),
})

test('ClientMetadataDocuments caches a document for its own time, 30 seconds to a day', async (t) => {
  const kept = async (cacheControl: string | undefined): Promise<number> => {
    const clock = new FakeClock()
    let fetched = 0
    const documents = new ClientMetadataDocuments({
      clock,
      fetch: async (id) => {
        fetched++
        return documentOf(id, cacheControl)
      },
    })
    let seconds = 0
    for (; fetched < 2 && seconds <= 90_000; seconds += 10) {
      await documents.find('https://a.example/c', address)
      clock.advance(10_000)
    }
    return seconds - 10
  }
  t.is(await kept(undefined), 300)
  t.is(await kept('max-age=600'), 600)
  t.is(await kept('public, MAX-AGE=60, immutable'), 60)
  t.is(await kept('max-age=1'), 30)
  t.is(await kept('no-store, max-age=600'), 30)
  t.is(await kept('max-age=999999999'), 86_400)
  t.is(await kept('s-maxage=900'), 300)
})

test('ClientMetadataDocuments fetches twenty at a time and refuses more', async (t) => {
  const waiting = new Map<string, (document: FetchedDocument) => void>()
  const fetch = (id: string) => new Promise<FetchedDocument>((resolve) => waiting.set(id, resolve))
  const documents = new ClientMetadataDocuments({ clock: new FakeClock(), fetch })
  const find = async (n: number) => documents.find(`https://a.example/${n}`, `192.0.2.${n}`)
  const finding = Array.from({ length: 20 }, (_, n) => find(n))
  await t.throwsAsync(find(20), { message: 'The metadata document of the client cannot be fetched now; try again in a moment.' })
  const again = find(0)
  waiting.get('https://a.example/0')?.(documentOf('https://a.example/0'))
  t.like(await finding[0], { id: 'https://a.example/0', verifiedHost: 'a.example', authentication: 'none' })
  t.true((await again) === (await finding[0]), 'one fetch for all callers')
  const next = find(20)
  for (const [id, resolve] of waiting) resolve(documentOf(id))
  await Promise.all([...finding, next])
  t.is(waiting.size, 21)
})

test('ClientMetadataDocuments fetches twenty a minute for one network', async (t) => {
  const clock = new FakeClock()
  const documents = new ClientMetadataDocuments({ clock, fetch: async (id) => documentOf(id) })
  const find = async (n: number, from = '2001:db8::1') => documents.find(`https://a.example/${n}`, from)
  for (let n = 0; n < 20; n++) await find(n)
  await t.throwsAsync(find(20, '2001:db8::2'), { message: /try again in a moment/ })
  await t.notThrowsAsync(find(0), 'a cached document needs no fetch')
  await t.notThrowsAsync(find(20, '2001:db8:0:1::1'))
  clock.advance(60_000)
  await t.notThrowsAsync(find(21))
})

test('ClientMetadataDocuments throws defects, and evicts the oldest of many documents', async (t) => {
  const broken = new ClientMetadataDocuments({ clock: new FakeClock(), fetch: () => Promise.reject(new TypeError('defect')) })
  await t.throwsAsync(broken.find('https://a.example/c', address), { instanceOf: TypeError })
  let fetched = 0
  const documents = new ClientMetadataDocuments({
    clock: new FakeClock(),
    fetch: async (id) => {
      fetched++
      return documentOf(id)
    },
  })
  for (let n = 0; n <= 1000; n++) await documents.find(`https://a.example/${n}`, `192.0.2.${n % 250}`)
  await documents.find('https://a.example/1000', address)
  t.is(fetched, 1001)
  await documents.find('https://a.example/0', address)
  t.is(fetched, 1002)
})
