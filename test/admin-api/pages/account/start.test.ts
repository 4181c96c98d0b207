/** Entry points for people and programs: the root address, the icon, and unknown addresses. */
import test from '#test'
import { foreignPaths } from '../../../../admin-api/http/foreign-paths.ts'
import { axeFaults, browserOf, rulesOfColours } from '../../../support/web/browser.ts'
import { builtDashboard } from '../../../support/web/built.ts'
import { startFixture } from '../../rest/fixture/rest-fixture.ts'
import { startPageServer } from '../page-server.ts'
import { openTab, titleOf } from '../tab.ts'
import { PageClient } from '../page-client.ts'

const browser = browserOf(test)

const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

for (const colorScheme of ['light', 'dark'] as const)
  test(`start: the root and unknown addresses are accessible pages, ${colorScheme}`, async (t) => {
    const server = await startPageServer(t)
    const tab = await openTab(t, browser(), { colorScheme })
    await tab.open(`${server.url}/nowhere`)
    t.is(await titleOf(tab), 'Nothing here')
    await tab.press('text=Go to the start')
    t.is(await titleOf(tab), 'Welcome')
    t.true((await tab.page.innerText('pre')).startsWith(`curl ${server.url}/v1/messages`))
    await tab.press('text=Sign in >> nth=0')
    t.is(await titleOf(tab), 'Sign in')
  })

test('start: links for programs, and the dashboard for signed-in users', async (t) => {
  await builtDashboard()
  const server = await startPageServer(t)
  const program = await fetch(server.url, { headers: { accept: '*/*' } })
  t.is(program.headers.get('vary'), 'Accept')
  t.like(await program.json(), { name: 'Postern', send: { method: 'POST', url: `${server.url}/v1/messages` } })
  const outsider = await fetch(server.url, { headers: page })
  t.deepEqual([outsider.status, outsider.headers.get('vary')], [200, 'Accept, Accept-Language, Cookie'])
  const olga = new PageClient(server)
  await olga.signIn('olga@example.ch')
  const known = await fetch(server.url, { headers: { ...page, cookie: olga.cookie }, redirect: 'manual' })
  t.deepEqual([known.status, known.headers.get('vary')], [200, 'Accept'])
  t.regex(await known.text(), /data-boot="[^"]*olga@example\.ch/)
})

test('start: the icon is served at the default address', async (t) => {
  const server = await startPageServer(t)
  const icon = await fetch(`${server.url}/favicon.ico`)
  t.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/x-icon'])
  t.deepEqual([...new Uint8Array(await icon.arrayBuffer()).subarray(0, 4)], [0, 0, 1, 0])
})

test('start: addresses of other products name ours, in JSON and as a page', async (t) => {
  const { address } = await startFixture(t)
  t.true(foreignPaths.size > 25)
  for (const path of foreignPaths.keys()) {
    const answer = await fetch(`http://${address}${path.replace(/\{\w+\}/, 'mg.example.com')}`, {
      method: 'POST',
      body: '{"from":"a@b.example"}',
    })
    t.is(answer.status, 404, path)
    const { error } = (await answer.json()) as { error: { message: string; next_action: string; details: unknown } }
    t.true(error.message.includes('POST /v1/messages sends a message'), path)
    t.like(error, { next_action: 'use_send_operation', details: { send: { method: 'POST', path: '/v1/messages' } } })
  }
  const plunk = await fetch(`http://${address}/v1/send`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_123', accept: 'application/json' },
  })
  t.regex(((await plunk.json()) as { error: { message: string } }).error.message, /^\/v1\/send is the address of Plunk;/)
  const server = await startPageServer(t)
  const shown = await fetch(`${server.url}/v3/email/send`, { headers: page })
  t.is(shown.headers.get('content-type'), 'text/html; charset=utf-8')
  t.regex(await shown.text(), /<p>\/v3\/email\/send is the address of SMTP2GO; here POST \/v1\/messages sends a message/)
})

test('page check: finds and names the problems of a page', async (t) => {
  const context = await browser().newContext()
  t.teardown(() => context.close())
  const tab = await context.newPage()
  const tiny = '<button style="width: 9px; height: 9px; padding: 0; border: 0">a</button>'
  const pale = '<p style="color: #ccc; background: #fff">Pale</p>'
  await tab.setContent(
    `<html><main><h1>Wrong</h1><img src="data:,"><input><button></button><iframe srcdoc="x"></iframe>${tiny}${tiny}${pale}</main>`,
  )
  const found = await axeFaults(tab, { at: [1280] })
  const rules = ['button-name', 'color-contrast', 'document-title', 'frame-title', 'html-has-lang', 'image-alt', 'label', 'target-size']
  const missed = rules.filter((rule) => !found.some((fault) => fault.startsWith(`1280 px, blank: ${rule}: <`)))
  t.deepEqual(missed, [], found.join('\n'))
  const [colours, ...others] = await axeFaults(tab, { at: [1280], rules: rulesOfColours })
  t.deepEqual(others, [])
  t.true(colours?.includes(`color-contrast: ${pale}`), colours)
})
