/** Websites from outside: deployed by zip and by digests, served by host, rolled back, guarded, metered and deleted. */
import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { connect, createServer, type AddressInfo } from 'node:net'
import test from '#test'
import { within } from '#store/tuple.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { column } from '../../support/column.ts'
import { assertSound } from '../../support/problems.ts'
import { zipOf } from '../../support/web/zip-file.ts'
import { asking, domain, startSites } from './site-client.ts'

const style = `body { color: #123; }\n${'.a { margin: 0 }\n'.repeat(200)}`
const large = Buffer.alloc(700_000, 'abcdefghij')
const homePage = '<!doctype html><title>Home</title><img src="/logo.png"><a href="/about">About</a><a href="/nowhere">x</a>'
const entries = [
  {
    path: 'index.html',
    content: homePage,
  },
  { path: 'about.html', content: '<h1>About</h1><div data-svc-form="Abc123"></div>' },
  { path: 'blog/index.html', content: '<h1>Blog</h1>' },
  { path: 'assets/app.3f2a9c1b.js', content: 'let a = 1' },
  { path: 'style.css', content: style },
  { path: 'film.bin', content: large },
  { path: '404.html', content: '<h1>Lost</h1>' },
  { path: '.git/config', content: 'secret' },
  { path: '_redirects', content: '/old/* /blog/:splat 301\n/app/* /index.html 200\n/bad\n' },
  { path: '_headers', content: '/style.css\n  X-Shop: yes\n  Set-Cookie: a=1\n' },
]
const digest = (octets: Buffer | string): string => createHash('sha256').update(octets).digest('hex')

test('site: served by host with encodings, ranges, pages and rules', async (t) => {
  const { ask, deploy, rest } = await startSites(t)
  const site = await rest.must('POST', '/v1/sites', { slug: 'alpenblick' })
  const host = new URL(String(site['url'])).hostname
  t.is(host, `alpenblick.${domain}`)
  t.is((await ask(host, '/')).status, 404)
  const made = await deploy(String(site['id']), entries)
  t.is(made.status, 201)
  const { report, ...facts } = made.body as { report: Record<string, unknown> }
  t.like(facts, { status: 'ready', files: 9, missing: [] })
  t.deepEqual(report, {
    pages: 4,
    broken_links: {
      count: 2,
      first: [
        { page: 'index.html', link: '/logo.png' },
        { page: 'index.html', link: '/nowhere' },
      ],
    },
    missing_alt: { count: 1, first: [{ page: 'index.html', image: '/logo.png' }] },
    forms: [{ page: 'about.html', form: 'Abc123' }],
    ignored: 1,
    rules: [
      { file: '_redirects', line: 3, problem: 'Write a path, a target and a status, separated by spaces.' },
      { file: '_headers', line: 3, problem: 'Set-Cookie is set by the service.' },
    ],
  })
  const home = await ask(`${host}:8443`, '/')
  t.is(home.text, homePage)
  t.like(home.headers, {
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=0, must-revalidate',
  })
  t.is(home.headers['set-cookie'], undefined)
  t.is((await ask(host, '/blog/')).text, '<h1>Blog</h1>')
  t.like(await ask(host, '/blog?x=1'), { status: 301, headers: { location: '/blog/?x=1' } })
  t.like(await ask(host, '/old/a/b'), { status: 301, headers: { location: '/blog/a/b' } })
  t.like(await ask(host, '/app/deep'), { status: 200, text: homePage })
  t.like(await ask(host, '/nowhere'), { status: 404, text: '<h1>Lost</h1>' })
  for (const path of ['/_redirects', '/.git/config', '/%2e%2e/x', '/..%2fx', '/%00']) t.not((await ask(host, path)).status, 200, path)
  t.regex((await ask(host, '/about')).text, /^<h1>About.*<\/div><script async src="http:\/\/127\.0\.0\.1:\d+\/embed\.js"><\/script>\n$/)
  t.is((await ask(host, '/assets/app.3f2a9c1b.js')).headers['cache-control'], 'public, max-age=31536000, immutable')
})

test('site: encodings, ranges, validators, previews and hosts suit caches and proxies', async (t) => {
  const { ask, create, deploy, rest } = await startSites(t)
  const host = `alpenblick.${domain}`
  const made = await deploy(await create('alpenblick'), entries)
  const br = await ask(host, '/style.css', { 'accept-encoding': 'gzip, br' })
  t.like(br.headers, { 'content-encoding': 'br', vary: 'Accept-Encoding', 'x-shop': 'yes' })
  t.is(brotliDecompressSync(br.bytes).toString(), style)
  const gzip = await ask(host, '/style.css', { 'accept-encoding': 'br;q=0, gzip' })
  t.is(gunzipSync(gzip.bytes).toString(), style)
  t.not(br.headers.etag, gzip.headers.etag)
  t.like(await ask(host, '/style.css', { 'accept-encoding': 'br', 'if-none-match': `"x", W/${String(br.headers.etag)}` }), {
    status: 304,
    text: '',
  })
  const head = await ask(host, '/style.css', { 'accept-encoding': 'br' }, 'HEAD')
  t.like(head, { status: 200, text: '', headers: { 'content-length': String(br.bytes.length) } })
  t.is((await ask(host, '/', {}, 'POST')).status, 405)

  t.true((await ask(host, '/film.bin')).bytes.equals(large))
  const etag = String((await ask(host, '/film.bin', {}, 'HEAD')).headers.etag)
  for (const [range, from, to] of [
    ['bytes=0-9', 0, 10],
    ['bytes=262100-262200', 262_100, 262_201],
    ['bytes=-5', 699_995, 700_000],
    ['bytes=699999-', 699_999, 700_000],
  ] as const) {
    const part = await ask(host, '/film.bin', { range, 'if-range': etag })
    t.like(part, { status: 206, headers: { 'content-range': `bytes ${from}-${to - 1}/700000` } })
    t.true(part.bytes.equals(large.subarray(from, to)), range)
  }
  t.like(await ask(host, '/film.bin', { range: 'bytes=700000-' }), { status: 416, headers: { 'content-range': 'bytes */700000' } })
  t.is((await ask(host, '/film.bin', { range: 'bytes=0-1', 'if-range': '"other"' })).bytes.length, large.length)

  const preview = new URL((made.body as { preview_url: string }).preview_url).hostname
  t.like(await ask(preview, '/about'), { status: 200, headers: { 'x-robots-tag': 'noindex' } })
  t.is((await ask(`00000000000000000000--alpenblick.${domain}`, '/')).status, 404)
  t.is((await ask(`unknown.${domain}`, '/')).status, 404)
  t.is((await ask('127.0.0.1', `/internal/tls-allow?domain=${host}`)).status, 200)
  t.is((await ask('127.0.0.1', `/internal/tls-allow?domain=unknown.${domain}`)).status, 404)
  t.is((await ask(host, `/internal/tls-allow?domain=${host}`)).status, 404)
  const allowed = async (domain_: string) => (await ask('127.0.0.1', `/internal/tls-allow?domain=${domain_}`)).status
  t.is(await allowed(preview), 200)
  t.is(await allowed(`00000000000000000000--${host}`), 404, 'no certificate for a missing deploy')
  t.like(await ask(host, '/film.bin', { range: 'bytes=0-9' }, 'HEAD'), { status: 200, headers: { 'content-length': '700000' } })
  t.is((await rest.call('POST', '/v1/sites', { slug: 'alpenblick' })).status, 409)
  for (const slug of ['www', 'a', 'UPPER', 'two--hyphens', '-x-', 'a.b'])
    t.is((await rest.call('POST', '/v1/sites', { slug })).status, 400, slug)
  await create('gipfel')
})

test('cache: a repeated request gets the same response until a new deploy', async (t) => {
  const { ask, create, deploy } = await startSites(t)
  const [site, host] = [await create('alpenblick'), `alpenblick.${domain}`]
  const first = await deploy(site, entries)
  const preview = new URL((first.body as { preview_url: string }).preview_url).hostname
  const told = async (of: string, path: string, encoding: string): Promise<unknown> => {
    const { status, headers, bytes } = await ask(of, path, { 'accept-encoding': encoding })
    return { status, headers: { ...headers, date: '' }, bytes: bytes.toString('base64') }
  }
  const asked = [host, preview].flatMap((of) =>
    ['/style.css', '/', '/app/deep', '/nowhere', '/old/a'].flatMap((path) =>
      ['br', 'gzip', ''].map((encoding) => [of, path, encoding] as const),
    ),
  )
  const before: unknown[] = []
  for (const one of asked) before.push(await told(...one))
  for (const [i, one] of asked.entries()) t.deepEqual(await told(...one), before[i], one.join(' '))
  const differing = new Set(before.map((each) => JSON.stringify(each)))
  t.is(
    differing.size,
    11,
    'three of style.css, the home page and the lost one, each with and without the mark of previews, and one redirect',
  )
  await deploy(site, [{ path: 'style.css', content: 'body {}' }])
  t.is((await ask(host, '/style.css', { 'accept-encoding': '' })).text, 'body {}')
  t.deepEqual(await told(preview, '/style.css', 'br'), before[asked.findIndex(([of]) => of === preview)])
})

test('deploys: invalid archives are refused and leave no rows', async (t) => {
  const { daemon, create, deploy, rest } = await startSites(t)
  const site = await create('gipfel')
  const page = { path: 'index.html', content: 'x' }
  const many = Array.from({ length: 5001 }, (_, i) => ({ path: `a${i}.txt` }))
  const refused: Readonly<Record<string, Parameters<typeof deploy>[1]>> = {
    'a path that leads out': [page, { path: '../evil.html' }],
    'an absolute path': [{ path: '/etc/passwd' }],
    'a backslash': [{ path: 'a\\b.html' }],
    'an encoded path': [{ path: 'a/%2e%2e/b.html' }],
    'a control character': [{ path: 'a\u0000b.html' }],
    'text that turns around': [{ path: 'a\u202ehtml.exe' }],
    'a symbolic link': [{ path: 'link', content: '/etc/passwd', mode: 0o120_777 }],
    'a device': [{ path: 'dev', mode: 0o020_666 }],
    'two names that differ by case': [page, { path: 'INDEX.html' }],
    'two that are the same': [page, page],
    'a bomb': [{ path: 'zeros', content: Buffer.alloc(20 * 1_048_576) }],
    'a file that is larger than its directory says': [{ path: 'a.txt', content: Buffer.alloc(5000), size: 10 }],
    'another checksum': [{ ...page, checksum: 1 }],
    'an encrypted file': [{ ...page, flags: 0x801 }],
    'files that overlap': [
      { path: '0', content: Buffer.alloc(900_000) },
      ...Array.from({ length: 100 }, (_, i) => ({ path: `1${i}`, content: Buffer.alloc(900_000), overlaps: true })),
    ],
    'a path that is too long': [page, { path: `${'a'.repeat(600)}.html` }],
    'names without end': Array.from({ length: 140 }, (_, i) => ({ path: `${i}${'n'.repeat(65_000)}` })),
    'a drive': [{ path: 'C:/boot.ini' }],
    'another compression': [{ ...page, method: 12 }],
    'too many files': many,
    'nothing that is served': [{ path: '.env', content: 'KEY=1' }],
    'no files': [],
  }
  for (const [what, entries_] of Object.entries(refused)) {
    const answer = await deploy(site, entries_)
    t.is(answer.status, 400, `${what}: ${answer.bytes.toString().slice(0, 300)}`)
  }
  const zip = { 'content-type': 'application/zip' }
  const broken = [Buffer.from('no archive'), zipOf([page]).subarray(0, -30), Buffer.concat([zipOf([page]).subarray(40), zipOf([])])]
  for (const octets of broken) t.is((await rest.call('POST', `/v1/sites/${site}/deploys`, octets, zip)).status, 400)
  t.deepEqual((await rest.must('GET', `/v1/sites/${site}/deploys`))['data'], [])
  for (const rows of ['site_blob', 'content', 'site.use', 'site.manifest']) t.deepEqual(await keysOf(daemon, rows), [], rows)
})

async function keysOf({ database, organizationId }: Awaited<ReturnType<typeof startSites>>['daemon'], name: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of database.kv.range(within([organizationId, name]))) keys.push(Buffer.from(key).toString('latin1'))
  return keys
}

test('deploys: digests save uploads, ten deploys are kept, deletion leaves no rows', async (t) => {
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const { daemon, rest, ask, create } = await startSites(t, { replacements: { clock } })
  const [site, other] = [await create('gipfel'), await create('gletscher')]
  const pages = ['one', 'two', 'three'].map((text) => Buffer.from(`<p>${text}</p>`))
  const manifest = (all: readonly Buffer[]) => ({
    files: all.map((page, i) => ({ path: `${i}.html`, sha256: digest(page), size: page.length })),
  })
  const put = (id: string, page: Buffer, to = site) =>
    rest.call('PUT', `/v1/sites/${to}/deploys/${id}/files/${digest(page)}`, page, { 'content-type': 'application/octet-stream' })
  const begin = async (all: readonly Buffer[], to = site) =>
    (await rest.must('POST', `/v1/sites/${to}/deploys?activate=true`, manifest(all))) as { id: string; missing: string[]; status: string }

  const first = await begin(pages)
  const half = new URL(String((await rest.must('GET', `/v1/sites/${site}/deploys/${first.id}`))['preview_url'])).hostname
  t.is((await ask(half, '/0')).status, 404, 'an incomplete deploy has no preview')
  t.deepEqual(first.missing, pages.map(digest))
  t.is((await rest.call('POST', `/v1/sites/${site}/deploys/${first.id}/activate`)).status, 409)
  t.is((await put(first.id, Buffer.from('outsider'))).status, 404)
  const wrong = await rest.call('PUT', `/v1/sites/${site}/deploys/${first.id}/files/${digest(pages[0] ?? '')}`, Buffer.from('<p>xyz</p>'), {
    'content-type': 'application/octet-stream',
  })
  t.is(wrong.status, 400)
  await Promise.all(pages.map((page) => put(first.id, page)))
  t.is((await put(first.id, pages[0] ?? Buffer.alloc(0))).status, 200)
  t.is((await ask(`gipfel.${domain}`, '/0')).text, '<p>one</p>')
  const outsider = await begin(pages, other)
  t.is(outsider.missing.length, 3, 'files of another site do not count')

  const changed = [Buffer.from('<p>new</p>'), ...pages.slice(1)]
  const second = await begin(changed)
  t.deepEqual(second.missing, [digest(changed[0] ?? '')])
  await put(second.id, changed[0] ?? Buffer.alloc(0))
  t.is((await ask(`gipfel.${domain}`, '/0')).text, '<p>new</p>')
  await rest.must('POST', `/v1/sites/${site}/deploys/${first.id}/activate`)
  t.is((await ask(`gipfel.${domain}`, '/0')).text, '<p>one</p>', 'a rollback')
  for (let n = 0; n < 11; n++) {
    const page = Buffer.from(`<p>${n}</p>`)
    const { id } = (await rest.must('POST', `/v1/sites/${site}/deploys`, manifest([page]))) as { id: string }
    await put(id, page)
  }
  const kept = (await rest.must('GET', `/v1/sites/${site}/deploys?limit=50`))['data'] as { id: string }[]
  t.is(kept.length, 11, 'ten deploys and the active one')
  t.is(kept.at(-1)?.id, first.id)
  t.is((await rest.call('DELETE', `/v1/sites/${site}/deploys/${first.id}`)).status, 409)
  await assertSound(t, daemon)

  const swept = async (): Promise<void> => {
    clock.advance(61_000)
    daemon.sites.upkeep.wake()
    await daemon.sites.upkeep.idle()
  }
  await swept()
  await assertSound(t, daemon, 'a removed site keeps the files of others')
  await rest.must('DELETE', `/v1/sites/${site}`)
  await rest.must('DELETE', `/v1/sites/${other}`)
  t.is((await ask(`gipfel.${domain}`, '/0')).status, 404)
  await swept()
  for (const rows of ['site', 'site_deploy', 'site_blob', 'content', 'site.use', 'site.manifest'])
    t.deepEqual(await keysOf(daemon, rows), [], rows)
  await assertSound(t, daemon)
})

test('deploys: a partial archive is hidden and deleted within 15 minutes', async (t) => {
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const { daemon, rest, create } = await startSites(t, { replacements: { clock } })
  const site = await create('gipfel')
  const { deploys } = daemon.sites.core
  const { organizationId } = daemon
  const principal = { organizationId, projectId: '', bound: false, scopes: ['api:admin'], credentialId: 'key_1' } as const
  const [page, other] = [Buffer.from('<p>one</p>'), Buffer.from('<p>two</p>')]
  const files = [page, other].map((octets, i) => ({ path: `${i}.html`, sha256: digest(octets), size: octets.length }))
  const { deploy: half } = await deploys.begin(principal, site, { files, activates: true, archive: { ignored: 0 } })
  await deploys.take(organizationId, half, files.slice(0, 1), Readable.from([page]))
  const third = [{ path: 'index.html', sha256: digest('third'), size: 5 }]
  const byDigests = await deploys.begin(principal, site, { files: third, activates: false })
  t.deepEqual(column((await rest.must('GET', `/v1/sites/${site}/deploys`))['data'] as { id: string }[], 'id'), [byDigests.deploy.id])
  t.is((await rest.call('GET', `/v1/sites/${site}/deploys/${half.id}`)).status, 404)
  await assertSound(t, daemon)
  const later = async (ms: number) => {
    clock.advance(ms)
    daemon.sites.upkeep.wake()
    await daemon.sites.upkeep.idle()
  }
  await later(900_001)
  await later(61_000)
  t.deepEqual(await keysOf(daemon, 'site_blob'), [], 'its file goes')
  t.is((await rest.call('GET', `/v1/sites/${site}/deploys/${byDigests.deploy.id}`)).status, 200, 'files by digest may arrive for a day')
  await later(86_400_000)
  await later(61_000)
  for (const rows of ['site_deploy', 'site_blob', 'content', 'site.use', 'site.manifest', 'site.wanted'])
    t.deepEqual(await keysOf(daemon, rows), [], rows)
  await assertSound(t, daemon)
})

test('usage: sent octets are counted exactly, as a proxy counts them', async (t) => {
  const { daemon, rest, create, deploy } = await startSites(t)
  const site = await create('gipfel')
  await deploy(site, entries)
  let counted = 0
  const [host = '', port] = daemon.addresses.sites.split(':')
  const proxy = createServer((client) => {
    const server = connect(Number(port), host)
    server.on('data', (chunk: Buffer) => (counted += chunk.length))
    client.pipe(server).pipe(client)
    for (const side of [client, server]) side.on('error', () => side.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  const ask = asking(t, `127.0.0.1:${(proxy.address() as AddressInfo).port}`, 4)
  const paths = ['/', '/about', '/style.css', '/film.bin', '/nowhere', '/blog', '/assets/app.3f2a9c1b.js']
  for (let round = 0; round < 5; round++)
    await Promise.all(
      paths.map((path) => ask(`gipfel.${domain}`, path, round % 2 ? { 'accept-encoding': 'br' } : {}, round === 4 ? 'HEAD' : 'GET')),
    )
  await daemon.sites.traffic.flush()
  const usage = await rest.must('GET', `/v1/sites/${site}/usage?days=2`)
  t.is(usage['traffic_bytes'], counted)
  t.is(usage['answers'], 5 * paths.length)
  const stored = entries.filter(({ path }) => !path.startsWith('.')).reduce((sum, { content }) => sum + content.length, 0)
  t.is(usage['stored_bytes'], stored)
  // 10 credits a GiB sent and 5 a GiB stored for 730 hours; a site of a few seconds counts as one day
  const perDay = Math.floor((counted * 10e6) / 2 ** 30) + Math.floor((stored * 24 * 5e6) / (2 ** 30 * 730))
  t.is(Number(usage['credits_per_day']), perDay / 1e6)
})
