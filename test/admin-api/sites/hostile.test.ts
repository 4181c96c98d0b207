/** Hostile websites: rules that inject header fields, pages that read the service, paths that leave the site. */
import { createHash } from 'node:crypto'
import test from '#test'
import { streamedZip } from '../../support/web/zip-file.ts'
import { domain, startSites } from './site-client.ts'

const digest = (octets: Buffer | string): string => createHash('sha256').update(octets).digest('hex')

test('rules: values cannot inject header fields, and circles end', async (t) => {
  const { ask, create, deploy, rest } = await startSites(t)
  const host = `alpenblick.${domain}`
  const site = await create('alpenblick')
  const made = await deploy(site, [
    { path: 'index.html', content: 'home' },
    { path: 'Straße.html', content: 'street' },
    {
      path: '_redirects',
      content:
        '/a /b\n/b /a\n/self /self 301!\n/loop /loop 200!\n/jp /日本?q=ü#ß\n/idn https://münchen.example/ä\n/x/* https://y.example/:splat 302\n' +
        '/street /Straße 200\n/tricks //evil.example\n/back \\\\evil.example\n/bad https://:80/\n/up/* /:splat\n',
    },
    {
      path: '_headers',
      content:
        '/*\n  X-Good: 1\n  X-Accel-Redirect: /secret\n  X-Sendfile: /etc/passwd\n  Proxy-Authenticate: Basic\n  Transfer-Encoding: chunked\n' +
        '  X-Split: a\rSet-Cookie: b=1\n  X-Ünicode: 1\n  X-Text: ü\n',
    },
  ])
  t.is(made.status, 201, made.bytes.toString())
  const { rules } = (made.body as { report: { rules: { file: string; line: number }[] } }).report
  t.deepEqual(
    rules.map(({ file, line }) => `${file} ${line}`),
    [...[9, 10, 11].map((n) => `_redirects ${n}`), ...[3, 4, 5, 6, 7, 8, 9].map((n) => `_headers ${n}`)],
  )
  const leads = async (path: string) => (await ask(host, path)).headers.location
  t.is((await ask(host, '/a')).status, 404, '/b leads back to it')
  t.is((await ask(host, '/self')).status, 404, 'it leads back to itself')
  t.is((await ask(host, '/loop')).status, 404)
  t.is(await leads('/jp'), '/%E6%97%A5%E6%9C%AC?q=%C3%BC#%C3%9F')
  t.is(await leads('/idn'), 'https://xn--mnchen-3ya.example/%C3%A4')
  t.is(await leads('/x/%0d%0aSet-Cookie:%20a=1'), 'https://y.example/%0D%0ASet-Cookie%3A%20a%3D1')
  t.is(await leads('/up//evil.example'), '/evil.example', 'a path stays one')
  t.is((await ask(host, '/street')).text, 'street')
  const home = await ask(host, '/')
  t.like(home.headers, { 'x-good': '1', 'x-content-type-options': 'nosniff' })
  for (const name of ['x-accel-redirect', 'x-sendfile', 'proxy-authenticate', 'set-cookie', 'x-split', 'x-text', 'transfer-encoding'])
    t.is(home.headers[name], undefined, name)
  t.is((await ask(host, '/', { range: `bytes=${Array.from({ length: 1000 }, (_, i) => `${i}-${i}`).join(',')}` })).status, 200)
  const tags = Array.from({ length: 1000 }, (_, i) => `"${i}"`).join(', ')
  t.is((await ask(host, '/', { 'if-none-match': `${tags}, ${String(home.headers.etag)}` })).status, 304)
  const streamed = streamedZip('index.html', 'streamed')
  t.is((await rest.call('POST', `/v1/sites/${site}/deploys?activate=true`, streamed, { 'content-type': 'application/zip' })).status, 201)
  t.is((await ask(host, '/')).text, 'streamed')
})

test('redirects: a path segment remains one segment of the target', async (t) => {
  const { ask, create, deploy } = await startSites(t)
  const host = `alpenblick.${domain}`
  const rules = '/old/:id /new/:id/page 302\n/to/:id https://y.example/:id?id=:id 302\n/all/* /new/:splat 302\n/show/:name /:name 200\n'
  await deploy(await create('alpenblick'), [
    { path: '_redirects', content: rules },
    { path: 'who?.html', content: 'who' },
    { path: 'half#1 50%.html', content: 'half' },
    { path: 'why? ä#1/index.html', content: 'why' },
  ])
  /** Path segments as sent, and as the target must contain them. */
  const parts = {
    ...{ plain: 'plain', 'a%20b': 'a%20b', '%E6%97%A5': '%E6%97%A5', '%C3%A4': '%C3%A4', 'a%3Fb': 'a%3Fb', 'a%23b': 'a%23b' },
    ...{ 'a%0d%0ab': 'a%0D%0Ab', 'a&b=c': 'a%26b%3Dc', '100%25': '100%25', '%252F': '%252F', 'a%5Cb': 'a%5Cb', ':id': '%3Aid' },
  }
  for (const [sent, led] of Object.entries(parts)) {
    const leads = async (path: string) => (await ask(host, path)).headers.location
    t.is(await leads(`/old/${sent}`), `/new/${led}/page`, sent)
    t.is(await leads(`/to/${sent}`), `https://y.example/${led}?id=${led}`, sent)
    t.is(await leads(`/all/${sent}/x`), `/new/${led}/x`, sent)
  }
  t.is((await ask(host, '/show/who%3F')).text, 'who')
  t.is((await ask(host, '/show/half%231%2050%25')).text, 'half')
  t.is((await ask(host, '/why%3F%20%C3%A4%231?x=1')).headers.location, '/why%3F%20%C3%A4%231/?x=1', 'a folder')
  t.is((await ask(host, '/who%3F/')).headers.location, '/who%3F', 'a page')
})

test('redirects: a rule with a path as its target never leaves the site', async (t) => {
  const { ask, create, deploy } = await startSites(t)
  const host = `alpenblick.${domain}`
  const rules = [
    ...['/w/* /:splat/', '/forced/:id/* /:splat/:id 301!', '/deep/* /:splat/:splat/evil.test', '/far/* https://y.example/:splat/x'],
    ...['/own/* /:splat/:splat/index.html 200', '/:lang/* /:splat/:lang 301'],
  ]
  await deploy(await create('alpenblick'), [
    { path: '_redirects', content: `${rules.join('\n')}\n` },
    { path: 'index.html', content: 'home' },
  ])
  const leads = async (path: string) => (await ask(host, path)).headers.location
  for (const path of ['/evil.test', '/evil.test/', '/%2Fevil.test/', '//evil.test', '/forced/evil.test', '/w/', '/w', '/deep/']) {
    const location = await leads(path)
    t.is(new URL(location ?? '', `http://${host}`).host, host, `${path} leads to ${location}`)
  }
  t.is((await ask(host, '/evil.test')).status, 404, 'a rule that leads back to its own path is skipped')
  t.is(await leads('/w/'), '/')
  t.is((await ask(host, '/de/shop')).status, 404, 'it would come back from /shop/de')
  t.is(await leads('/far/'), 'https://y.example//x', 'the host is that of the rule')
  t.is((await ask(host, '/own/')).text, 'home')
})

test('redirects: a rule that leads back to the same path is skipped', async (t) => {
  const { ask, create, deploy } = await startSites(t)
  const host = `alpenblick.${domain}`
  const rules = [
    '/* /maintenance.html 302!',
    '/maintenance.html https://status.example/?now=1 302!',
    '/news/* /news/:splat 301',
    '/z%C3%BCrich /zürich 301',
  ]
  const pages = [
    { path: 'index.html', content: 'home' },
    { path: 'maintenance.html', content: 'closed for an hour' },
  ]
  const site = await create('alpenblick')
  const answer = async (path: string) => {
    const { status, headers } = await ask(host, path)
    return headers.location ?? status
  }
  await deploy(site, [{ path: '_redirects', content: rules.slice(0, 1).join('\n') }, ...pages])
  t.deepEqual([await answer('/'), await answer('/maintenance.html')], ['/maintenance.html', 200])
  t.is((await ask(host, '/maintenance.html')).text, 'closed for an hour')
  await deploy(site, [{ path: '_redirects', content: rules.slice(0, 2).join('\n') }, ...pages])
  t.is(await answer('/maintenance.html'), 'https://status.example/?now=1', 'the next matching rule applies')
  await deploy(site, [{ path: '_redirects', content: rules.slice(2).join('\n') }, ...pages])
  t.deepEqual([await answer('/news/1'), await answer('/news/1/'), await answer('/z%C3%BCrich')], [404, 404, 404])
})

test('redirects: rules that lead in circles are skipped', async (t) => {
  const { ask, create, deploy } = await startSites(t)
  const host = `alpenblick.${domain}`
  const site = await create('alpenblick')
  const leads = async (rules: readonly string[], ...paths: readonly string[]) => {
    const pages = ['index.html', 'shop/index.html', 'about.html', 'b.html'].map((path) => ({ path, content: path }))
    await deploy(site, [{ path: '_redirects', content: rules.join('\n') }, ...pages])
    return Promise.all(
      paths.map(async (path) => {
        const { status, headers } = await ask(host, path)
        return headers.location ?? status
      }),
    )
  }
  t.deepEqual(await leads(['/a /b 302!', '/b /a 302!', '/start /a 302'], '/a', '/b', '/b/', '/start'), [404, 200, '/b', '/a'])
  t.deepEqual(await leads(['/1 /2', '/2 /3?x=1', '/3 /1#top'], '/1', '/2', '/3'), [404, 404, 404])
  t.deepEqual(await leads(['/d /d/e', '/d/e /d/', '/d /about'], '/d'), ['/about'], 'the next matching rule applies')
  t.deepEqual(await leads(['/:lang/* /:splat/:lang 301'], '/de/page', '/de/de'), [404, 404])
  t.deepEqual(await leads(['/more/* /more/x/:splat 302'], '/more/1'), [404], 'the path grows without end')
  t.deepEqual(await leads(['/about /about/ 301!', '/shop/ /shop 301!'], '/about', '/shop/', '/shop'), [200, 200, '/shop/'])
  t.deepEqual(await leads(['/away https://other.example/away 302', `/* https://${host}/:splat 301!`], '/away', '/about'), [
    'https://other.example/away',
    200,
  ])
  const chain = Array.from({ length: 10 }, (_, i) => `/c${i} /c${i + 1}`)
  t.deepEqual(await leads([...chain, '/c10 /about'], '/c0', '/c10'), ['/c1', '/about'])
  const many = Array.from({ length: 500 }, (_, i) => `/* /z${i} 302!`)
  t.deepEqual(await leads(many, '/z0', '/'), [404, '/z0'])
})

test('isolation: a page of a site gets no CORS, cookie or access from the service', async (t) => {
  const { daemon, create } = await startSites(t)
  await create('alpenblick')
  const origin = `http://alpenblick.${domain}`
  const preflight = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' }
  for (const path of ['/v1/sites', '/v1/billing/credits', '/v1/messages', '/dashboard', '/sign-in', '/graphql', '/operator/v1/invoices'])
    for (const [method, headers] of [
      ['OPTIONS', preflight],
      ['GET', { origin }],
    ] as const) {
      const { headers: got } = await fetch(`http://${daemon.addresses.http}${path}`, { method, headers, redirect: 'manual' })
      // publishable keys are for pages of their owners, which define the origins
      if (path !== '/v1/messages') t.is(got.get('access-control-allow-origin'), null, `${method} ${path}`)
      t.is(got.get('access-control-allow-credentials'), null, `${method} ${path}`)
    }
})

test('deploys: digests of forbidden files are refused', async (t) => {
  const { rest, create } = await startSites(t)
  const site = await create('gipfel')
  const bad = [
    '../x',
    'a/../b',
    '/etc/passwd',
    'a//b',
    './a',
    'a/',
    'C:/x',
    'a\\b',
    'a%2fb',
    'a\u0000',
    'a.',
    ' a',
    '.env',
    'x'.repeat(513),
    'd/.git/a',
  ]
  const tooMuch = [
    ...bad.map((path) => [{ path, size: 1 }]),
    [{ path: 'a', size: 25 * 1_048_576 + 1 }],
    Array.from({ length: 5 }, (_, i) => ({ path: `${i}`, size: 21 * 1_048_576 })),
    Array.from({ length: 5001 }, (_, i) => ({ path: `${i}`, size: 1 })),
    [
      { path: 'a', size: 1 },
      { path: 'A', size: 1 },
    ],
    [
      { path: 'u\u0308', size: 1 },
      { path: '\u00fc', size: 1 },
    ],
  ]
  for (const files of tooMuch) {
    const { status } = await rest.call('POST', `/v1/sites/${site}/deploys`, {
      files: files.map((file, i) => ({ ...file, sha256: digest(`${i}`) })),
    })
    t.is(status, 400, files[0]?.path)
  }
})

test('deploys: slow archives do not block others, and places are limited', async (t) => {
  const { daemon, create, deploy } = await startSites(t)
  const { archives } = daemon.part('rest').sites
  const site = await create('alpenblick')
  const enter = (organizationId: string) => archives.enter({ organizationId } as Parameters<typeof archives.enter>[0])
  const [page, held] = [[{ path: 'index.html', content: 'home' }], [] as Disposable[]]
  for (let i = 0; i < 15; i++) held.push(enter(`org_slow_${Math.floor(i / 2)}`))
  t.throws(() => enter('org_slow_0'), { message: /Too many archives/ }, 'two of an organization')
  t.is((await deploy(site, page)).status, 201)
  held.push(enter('org_slow_7'))
  const refused = await deploy(site, page)
  t.is(refused.status, 503)
  t.is(refused.headers['retry-after'], '10')
  for (const place of held) place[Symbol.dispose]()
  const [one, other] = await Promise.all([deploy(site, page), deploy(site, page)])
  t.deepEqual([one.status, other.status], [201, 201])
})

test('redirects: the query precedes the fragment of the target', async (t) => {
  const { ask, create, deploy } = await startSites(t)
  const host = `alpenblick.${domain}`
  const rules =
    '/go /docs#install 302\n/own /docs?a=1#install 302\n/marked /docs#is-it? 302\n/out https://y.example/docs#install 302\n' +
    '/empty /docs# 302\n/page /docs.html#install 200\n'
  await deploy(await create('alpenblick'), [
    { path: '_redirects', content: rules },
    { path: 'docs.html', content: 'docs' },
  ])
  const leads = async (path: string) => (await ask(host, path)).headers.location
  t.is(await leads('/go?ref=mail'), '/docs?ref=mail#install')
  t.is(await leads('/go'), '/docs#install')
  t.is(await leads('/own?ref=mail'), '/docs?a=1#install', 'a query in the rule replaces that of the request')
  t.is(await leads('/marked?ref=mail'), '/docs?ref=mail#is-it?', 'a question mark in a fragment begins no query')
  t.is(await leads('/out?ref=mail&x=a%3Fb'), 'https://y.example/docs?ref=mail&x=a%3Fb#install')
  t.is(await leads('/empty?ref=mail'), '/docs?ref=mail#')
  t.is((await ask(host, '/page?ref=mail')).text, 'docs', 'a fragment names no file')
})
