/** A core with running quick checks, and the findings that they open and end. */
import { findings, type Finding } from '#core/findings/finding.ts'
import { findingText } from '#core/findings/finding-text.ts'
import type { FindingKind } from '#core/findings/kinds.ts'
import { Change } from '#store/change.ts'
import { column } from '../../support/column.ts'
import { organizationId, projectId, type CoreFixture } from '../core-fixture.ts'

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour
export const place = { organizationId, projectId }

export class Watched {
  readonly fixture: CoreFixture

  private constructor(fixture: CoreFixture) {
    this.fixture = fixture
  }

  static async of(fixture: CoreFixture): Promise<Watched> {
    await fixture.part('watch').start()
    return new Watched(fixture)
  }

  /** Without rounds of the fixture's own daemon. */
  static withoutRounds(fixture: CoreFixture): Watched {
    return new Watched(fixture)
  }

  get now(): number {
    return this.fixture.clock.now()
  }

  /** Writes counts as an event does. */
  async count(add: (change: Change, now: number) => void): Promise<void> {
    const change = new Change()
    add(change, this.now)
    await this.fixture.database.commit(change)
  }

  /** Passes time with all rounds. */
  async pass(ms: number): Promise<void> {
    await this.fixture.pass(ms)
    await this.fixture.part('watch').idle()
  }

  /** Passes the time until the next round. */
  round(): Promise<void> {
    return this.pass(30_000)
  }

  async findings(): Promise<readonly Finding[]> {
    return column(await this.fixture.database.all(findings, { organizationId }), 'record')
  }

  /** Kinds and severities of the open findings. */
  async open(): Promise<readonly string[]> {
    const open = (await this.findings()).filter(({ state }) => state === 'open')
    return open.map(({ kind, severity }) => `${kind} ${severity}`).toSorted()
  }

  async finding(kind: FindingKind): Promise<Finding | undefined> {
    return (await this.findings()).find((one) => one.kind === kind && one.state === 'open')
  }

  /** The English summary of an open finding; empty without one. */
  async summary(kind: FindingKind): Promise<string> {
    const found = await this.finding(kind)
    if (!found) return ''
    const { summary, fix } = findingText(found)
    return fix === '' ? 'no fix' : summary
  }
}
