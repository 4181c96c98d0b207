/** Processing of mail after the acknowledgement; no mail delays that of other organizations. */
import test, { type ExecutionContext } from '#test'
import type { Authentication, Authenticator, ReceivedMail } from '#core/inbound-routes/authentication.ts'
import { RouteIntake } from '#core/inbound-routes/route-intake.ts'
import { inboundMessages } from '#core/inbound-routes/inbound-message.ts'
import { Preparation } from '#core/inbound-routes/preparation.ts'
import { inboundRoutes } from '#core/inbound-routes/route.ts'
import type { MessageReader } from '#core/capture/reading/message-reader.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { contentRowKey } from '#store/content.ts'
import { Change } from '#store/change.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../core-fixture.ts'

const none = { result: 'none', domain: null }
const nothing: Authentication = { spf: none, dkim: [], dmarc: { ...none, policy: null }, arc: { result: 'none' } }
const reader: MessageReader = {
  read: async () => ({ ok: false, unreadable: 'It is not read here.' }),
  attachment: async () => undefined,
  [Symbol.asyncDispose]: async () => {},
} as never

/** Delays mail from `slow@` until it is released. */
class Slow implements Authenticator {
  waiting = 0
  most = 0
  readonly #go = Promise.withResolvers<Authentication>()

  authenticate({ mailFrom }: ReceivedMail): Promise<Authentication> {
    if (mailFrom !== 'slow@peer.test') return Promise.resolve(nothing)
    this.most = Math.max(this.most, ++this.waiting)
    return this.#go.promise.finally(() => this.waiting--)
  }

  letGo(): void {
    this.#go.resolve(nothing)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

interface Place {
  readonly fixture: CoreFixture
  readonly intake: RouteIntake
  readonly slow: Slow
  readonly preparation: Preparation
  readonly errors: string[]
}

/** Two organizations with a route each: `one` and `two`. */
async function place(t: ExecutionContext): Promise<Place> {
  const fixture = await coreFixture(t)
  const { database } = fixture
  const { record } = (await database.get(organizations, { organizationId }, organizationId))!
  const project = (await database.get(projects, { organizationId }, projectId))!.record
  const route = { projectId, webhookUrl: 'https://hooks.example.ch/', sealedSecret: '', createdAt: startOfTime, updatedAt: startOfTime }
  const change = new Change()
    .insert(organizations, 'org_z', { ...record, id: 'org_z' })
    .insert(projects, 'org_z', project)
    .insert(inboundRoutes, organizationId, { ...route, id: 'inr_1', localPartPattern: 'one' })
    .insert(inboundRoutes, 'org_z', { ...route, id: 'inr_2', localPartPattern: 'two' })
  await database.commit(change)
  const slow = new Slow()
  const errors: string[] = []
  const onError = (_error: unknown, id: string): void => void errors.push(id)
  const base = { ...fixture.context, reader, authenticator: slow, baseUrl: 'https://post.example.ch', onError }
  const preparation = new Preparation(base)
  t.teardown(() => preparation.stop())
  return { fixture, intake: new RouteIntake(fixture.context), slow, preparation, errors }
}

async function take({ intake, fixture }: Place, local: string, mailFrom: string): Promise<string> {
  fixture.clock.advance(1)
  const found = await intake.routeFor(local)
  const mail = intake.open([{ route: found!, recipients: [`${local}@in.test`] }], '192.0.2.1')
  await mail.write(Buffer.from('Subject: x\r\n\r\nx\r\n'))
  const [id = ''] = await mail.commit({ mailFrom, remoteAddress: '192.0.2.1', helo: 'mx.test', isEncrypted: false, prefix: '' })
  return id
}

const isPrepared = async ({ fixture: { database } }: Place, organization: string, id: string): Promise<boolean> =>
  (await database.get(inboundMessages, { organizationId: organization }, id))?.record.prepared !== null

test('a flood with slow authentication delays only mail of its organization', async (t) => {
  const here = await place(t)
  const flood: string[] = []
  for (let n = 0; n < 100; n++) flood.push(await take(here, 'one', 'slow@peer.test'))
  here.preparation.start()
  await here.fixture.settled()
  t.is(here.slow.waiting, 16, 'the flood is being processed')
  const other = await take(here, 'two', 'ada@peer.test')
  await here.fixture.settled()
  t.true(await isPrepared(here, 'org_z', other), 'the mail of the other organization is processed')
  t.is(here.slow.most, 16)
  here.slow.letGo()
  await here.fixture.settled()
  t.true(await isPrepared(here, organizationId, flood.at(-1) ?? ''), 'the flood is processed')
  t.deepEqual(await here.fixture.keys('inbound.unprepared'), [])
  t.deepEqual(here.errors, [])
})

test('a mail with damaged content is reported once, and later mail is processed', async (t) => {
  const here = await place(t)
  const damaged = await take(here, 'one', 'ada@peer.test')
  await here.fixture.database.commit(new Change().delete(contentRowKey(organizationId, damaged, 0)))
  here.preparation.start()
  for (let n = 0; n < 3; n++) {
    const id = await take(here, 'one', 'ada@peer.test')
    await here.fixture.settled()
    t.true(await isPrepared(here, organizationId, id), 'it is processed')
  }
  t.deepEqual(here.errors, [damaged])
  t.false(await isPrepared(here, organizationId, damaged))
})
