/** Links to captured messages and images of views, without a browser. */
import test from '#test'
import { MessageViews } from '#core/capture/reading/message-views.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { secrets } from '../core-fixture.ts'

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const viewed = (organizationId: string) => ({ organizationId, inboxId: 'inb_1', captureId: 'cap_1' })

test('message view: pending images of one organization leave room for others', async (t) => {
  const open: (() => void)[] = []
  const get = (url: string) =>
    url.includes('slow') ? new Promise<Uint8Array>((resolve) => void open.push(() => resolve(png))) : Promise.resolve(png)
  const views = new MessageViews({ secrets, clock: new FakeClock(), get, origin: 'https://post.example.ch' })
  const image = (organizationId: string, address: string) => {
    const asked = new URLSearchParams(views.imageQuery(viewed(organizationId), address))
    return views.image(viewed(organizationId), asked.get('u') ?? '', asked.get('s') ?? '', new AbortController().signal)
  }
  const hanging = Array.from({ length: 12 }, () => image('org_1', 'https://slow.example/'))
  await t.throwsAsync(image('org_1', 'https://quick.example/'), { code: 'overloaded' })
  t.is((await image('org_2', 'https://quick.example/')).contentType, 'image/png')
  for (const end of open) end()
  await Promise.all(hanging)
  t.is((await image('org_1', 'https://quick.example/')).contentType, 'image/png')
})

test('message view: a link names one message and cannot be forged', (t) => {
  const clock = new FakeClock()
  const views = new MessageViews({ secrets, clock, get: async () => undefined, origin: 'https://post.example.ch' })
  const token = views.token(viewed('org_1'))
  t.deepEqual(views.read(token), viewed('org_1'))
  for (const made of [token.replace('org_1', 'org_2'), token.replace('cap_1', 'cap_2'), token.slice(0, -1), `${token}A`, '', '.', 'a.b'])
    t.throws(() => views.read(made), { message: /has expired/ }, made)
})
