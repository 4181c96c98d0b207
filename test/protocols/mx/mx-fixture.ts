/** An MX server on a free port with the real core door and store. Intake of feedback and report reading are fakes. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { InboundDoor } from '#core/inbound/inbound-door.ts'
import type { InspectTests } from '#core/inspect/inspect-tests.ts'
import { loopMarkField } from '#core/inbound/loop-mark.ts'
import { newVerpId, verpAddress } from '#core/trace/verp-address.ts'
import { PostmasterBox, type BoxLimits } from '../../../protocols/mx/postmaster-box.ts'
import { MxServer } from '../../../protocols/mx/mx-server.ts'
import type { MxEvents, Reception } from '../../../protocols/mx/mx-settings.ts'
import type { ReceptionLimits } from '../../../protocols/reception/reception-settings.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { FeedbackDouble, readTestReport } from '../feedback-double.ts'
import type { Database } from '#store/database.ts'
import { principal, secrets, relayingFixture } from '../../core/core-fixture.ts'
import { LineClient } from '../submission/line-client.ts'
import { certificate } from '../submission/submission-fixture.ts'
import { FakeClock, startOfTime } from '../../support/fake-clock.ts'

const bounceDomain = 'bounces.site.test'

class EventLog implements MxEvents {
  readonly receptions: Reception[] = []
  readonly refusals: string[] = []
  readonly defects: unknown[] = []

  sessionOpened(): void {}
  sessionClosed(): void {}
  refused = (code: string): void => void this.refusals.push(code)
  received = (reception: Reception): void => void this.receptions.push(reception)
  protocolError(): void {}
  defect = (error: unknown): void => void this.defects.push(error)
}

export interface Fixture {
  readonly server: MxServer
  readonly feedback: FeedbackDouble
  readonly events: EventLog
  readonly clock: FakeClock
  readonly database: Database
  readonly inspectTests: InspectTests
  readonly port: number
  /** Id of the deliverability test at the name `test`. */
  readonly testId: string
  /** Addresses by their name in dialogs. */
  readonly names: Readonly<Record<string, string>>
  /** The folder of the postmaster's box. */
  readonly box: string
  readonly postmaster: PostmasterBox
  connect(): Promise<LineClient>
  /** Returns the mails in the postmaster's mailbox. */
  kept(): Promise<string[]>
  /** Returns files of incomplete mails for the postmaster. */
  unfinished(): Promise<string[]>
}

export interface FixtureOptions {
  readonly limits?: Partial<ReceptionLimits>
  readonly box?: BoxLimits
  readonly admission?: { check(): void }
  readonly host?: string
}

const usual: ReceptionLimits = {
  maxMessageBytes: 3_000_000,
  maxRecipients: 10,
  maxConnections: 50,
  maxConnectionsPerAddress: 50,
  sessionMs: 600_000,
  idleMs: 60_000,
}

export async function startFixture(
  t: ExecutionContext,
  { limits, box, admission = { check: () => {} }, host = '127.0.0.1' }: FixtureOptions = {},
): Promise<Fixture> {
  const fixture = await relayingFixture(t, { deaf: true, bounceDomain, clock: new FakeClock(startOfTime, 3000) })
  const { traceId } = await fixture.submit({ rcptTo: ['anna@example.net', 'ben@example.net'], verp: { bounceDomain: null } })
  const [anna = '', ben = ''] = (await fixture.trace(traceId)).recipients.map(({ verp }) => verp ?? '')
  const folder = await temporaryFolder('mx')
  const { clock, database } = fixture
  const feedback = new FeedbackDouble()
  const events = new EventLog()
  const { inspectTests, inspectScoring } = fixture.part('mailDoors').inspect
  inspectScoring.wake = () => {} // no scoring
  const { routeIntake: routes } = fixture.part('inbound')
  const door = new InboundDoor({
    ...fixture.context,
    feedback,
    admission,
    fairness: fixture.part('fairness'),
    inboundDomain: bounceDomain,
    inspectTests,
    routes,
  })
  const postmaster = new PostmasterBox(folder.path, clock, box)
  const server = new MxServer({
    ...{ listen: [{ host, port: 0 }], hostname: 'mx.test', tls: await certificate(), door, clock, events },
    limits: { ...usual, ...limits },
    readReport: readTestReport,
    postmaster,
  })
  const [address] = await server.listen()
  const clients: LineClient[] = []
  t.teardown(async () => {
    for (const client of clients) client.destroy()
    await server.close(0)
    await folder[Symbol.asyncDispose]()
  })
  const connect = async (): Promise<LineClient> => {
    const client = await LineClient.connect(address?.port ?? 0, false, host)
    clients.push(client)
    return client
  }
  const kept = async (): Promise<string[]> => {
    const names = await readdir(join(folder.path, 'new')).catch((): string[] => [])
    return Promise.all(names.toSorted().map((name) => readFile(join(folder.path, 'new', name), 'latin1')))
  }
  const unfinished = (): Promise<string[]> => readdir(join(folder.path, 'tmp')).catch(() => [])
  const [test, second] = [await inspectTests.create(principal, undefined), await inspectTests.create(principal, undefined)]
  const names = { ...namesOf(anna, ben), test: `${test.token}@${bounceDomain}`, second: `${second.token}@${bounceDomain}` }
  return {
    server,
    feedback,
    events,
    clock,
    database,
    inspectTests,
    testId: test.id,
    names,
    port: address?.port ?? 0,
    box: folder.path,
    postmaster,
    connect,
    kept,
    unfinished,
  }
}

function namesOf(anna: string, ben: string): Record<string, string> {
  const local = anna.slice(0, anna.indexOf('@'))
  const last = local.endsWith('0') ? '1' : '0'
  return {
    ...{ anna, ben, ANNA: `${local.toUpperCase()}@${bounceDomain}`, domain: bounceDomain, local, SHOUTED: anna.toUpperCase() },
    forged: `${local.slice(0, -1)}${last}@${bounceDomain}`,
    srs0: `SRS0=HHHH=TT=${bounceDomain}=${local}@${bounceDomain}`,
    srs1: `SRS1=AAAA=other.test==HHHH=TT=${bounceDomain}=${local}@${bounceDomain}`,
    'forged-srs0': `SRS0=HHHH=TT=${bounceDomain}=${local.slice(0, -1)}${last}@${bounceDomain}`,
    expired: verpAddress(secrets, newVerpId(), bounceDomain),
    elsewhere: verpAddress(secrets, newVerpId(), 'bounces.customer.test'),
    loop: loopMarkField(secrets).trim(),
  }
}
