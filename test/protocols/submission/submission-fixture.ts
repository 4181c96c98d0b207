/** A submission server on free ports, with a fake door, a manual clock and awaitable events. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { SubmissionServer } from '../../../protocols/submission/submission-server.ts'
import type { SubmissionEvents, SubmissionLimits, SubmissionOptions } from '../../../protocols/submission/submission-settings.ts'
import { makeCertificates } from '../../support/web/certificates.ts'
import { waiting } from '../../support/waits.ts'
import { DoorDouble } from './door-double.ts'
import { LineClient } from './line-client.ts'
import { FakeClock, startOfTime } from '../../support/fake-clock.ts'

export const limits: SubmissionLimits = {
  maxMessageBytes: 1_000_000,
  maxRecipients: 100,
  maxConnections: 50,
  maxConnectionsPerAddress: 50,
  sessionMs: 600_000,
  idleMs: 60_000,
  authFailuresPerSession: 3,
}

/** Events of the server in order: `opened`, `closed`, `refused 550 5.7.1`, `accepted <trace id>`, `error …`, `defect …`. */
export class EventLog implements SubmissionEvents {
  readonly lines: string[] = []
  #wake: () => void = () => undefined

  sessionOpened = (): void => this.#add('opened')
  sessionClosed = (): void => this.#add('closed')
  refused = (code: string): void => this.#add(`refused ${code}`)
  accepted = (traceId: string): void => this.#add(`accepted ${traceId}`)
  protocolError = (error: Error): void => this.#add(`error ${error.message}`)
  defect = (error: unknown): void => this.#add(`defect ${String(error)}`)

  /** Waits until a line has appeared `times` times. */
  async seen(line: string, times = 1): Promise<void> {
    await waiting(() => `${line} in ${JSON.stringify(this.lines)}`, this.#until(line, times))
  }

  async #until(line: string, times: number): Promise<void> {
    while (this.lines.filter((entry) => entry === line).length < times) await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  #add(line: string): void {
    this.lines.push(line)
    this.#wake()
  }
}

let made: Promise<{ readonly cert: string; readonly key: string }> | undefined

async function makeCertificate(): Promise<{ readonly cert: string; readonly key: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'submission-'))
  const { cert, key } = await makeCertificates(folder)
  const texts = { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') }
  await rm(folder, { recursive: true })
  return texts
}

/** A certificate for localhost, created once per test file. */
export const certificate = (): Promise<{ readonly cert: string; readonly key: string }> => (made ??= makeCertificate())

export interface Fixture {
  readonly server: SubmissionServer
  readonly door: DoorDouble
  readonly clock: FakeClock
  readonly events: EventLog
  readonly port: number
  readonly tlsPort: number
  /** Opens a connection; with `insideTls` to the listener with implicit TLS. It ends with the test. */
  connect(insideTls?: boolean): Promise<LineClient>
  /** Opens a connection and logs in. */
  session(): Promise<LineClient>
}

export async function startFixture(
  t: Pick<ExecutionContext, 'teardown'>,
  overrides: Partial<SubmissionLimits> = {},
  options: Partial<SubmissionOptions> = {},
): Promise<Fixture> {
  const door = new DoorDouble()
  const clock = new FakeClock(startOfTime, 3000)
  const events = new EventLog()
  const here = [{ host: '127.0.0.1', port: 0 }]
  const tls = await certificate()
  const settings = { listen: here, tlsListen: here, hostname: 'mail.test', tls, cleartextAuth: 'never' as const, clock, door, events }
  const server = new SubmissionServer({ ...settings, limits: { ...limits, ...overrides }, ...options })
  const { submission, submissions } = await server.listen()
  const clients: LineClient[] = []
  t.teardown(async () => {
    for (const client of clients) client.destroy()
    await server.close(0)
  })
  const port = submission[0]?.port ?? 0
  const tlsPort = submissions[0]?.port ?? 0
  const connect = async (insideTls = false): Promise<LineClient> => {
    const client = await LineClient.connect(insideTls ? tlsPort : port, insideTls)
    clients.push(client)
    return client
  }
  const session = async (): Promise<LineClient> => {
    const client = await connect()
    await client.logIn()
    return client
  }
  return { server, door, clock, events, port, tlsPort, connect, session }
}
