/** Tests the result of one check for one mail. */
import test from '#test'
import type { CheckResult, CheckStatus } from '#core/inspect/report.ts'
import type { CheckId } from '#ingest/inspect/checks/verdict.ts'
import { inspectMail } from '#ingest/inspect/score.ts'
import { letter, type Changes } from './golden.ts'

/** A mail and the expected result of the check. */
export interface Fixture {
  readonly what: string
  /** Overrides the check of the table. */
  readonly check?: CheckId
  readonly status: CheckStatus
  readonly points: number
  readonly changes?: Changes
  readonly mail?: typeof letter
  /** Must match the summary. */
  readonly says?: RegExp
}

export async function resultOf({ check, changes, mail = letter }: Pick<Fixture, 'check' | 'changes' | 'mail'>): Promise<CheckResult> {
  const { checks } = await inspectMail(await mail(changes))
  const found = checks.find(({ id }) => id === check)
  if (!found) throw new Error(`no check ${String(check)}`)
  return found
}

export function prove(about: CheckId, fixtures: readonly Fixture[]): void {
  for (const { check = about, ...fixture } of fixtures)
    test(`${check}: ${fixture.what} gives ${fixture.status} with ${fixture.points}`, async (t) => {
      const { status, points, summary, max, fix, references } = await resultOf({ check, ...fixture })
      t.deepEqual({ status, points }, { status: fixture.status, points: fixture.points }, summary)
      t.regex(summary, fixture.says ?? /./)
      t.true(points >= 0 && points <= max)
      t.true(references.length > 0)
      t.notRegex(`${summary} ${fix ?? ''}`, /\{\w+\}/, 'every value of a sentence is there')
      if (status === 'warn' || status === 'fail') t.true((fix ?? '').length > 10)
    })
}
