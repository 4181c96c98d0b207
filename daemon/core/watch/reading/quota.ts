/** Use of limits that refuse mail: counters of the organization and of its projects. */
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { monthlyCredits, ucrPerCredit } from '#config/plans/credits.ts'
import { creditAccounts, creditGrants } from '../../billing/credits/credit.ts'
import { CreditBook } from '../../billing/credits/credit-book.ts'
import { billsOverage, limitsOf } from '../../plan/limits.ts'
import { captureCounter, dayOf, monthOf, organizationSendCounter, sendCounter, storedTracesCounter } from '../../tenancy/counters.ts'
import { captureCapOf, type Organization, type Project } from '../../tenancy/organization.ts'
import type { Used } from '../conditions/quota.ts'

const dayMs = 86_400_000

/** Limits beyond which use is billed refuse no mail, and are left out. */
export async function readQuota(
  database: Database,
  organization: Organization,
  projects: readonly Project[],
  now: number,
): Promise<readonly Used[]> {
  const { id } = organization
  const { sendsPerDay, tracesStored } = limitsOf(organization)
  const count = (key: readonly Element[]): Promise<number> => database.kv.counter(pack(key))
  const used: Used[] = []
  const add = async (
    limit: Used['limit'],
    allowed: number | null | undefined,
    key: readonly Element[],
    period?: Used['period'],
    project?: Project,
  ): Promise<void> => {
    if (typeof allowed !== 'number') return
    used.push({ limit, allowed, used: await count(key), projectId: project?.id ?? '', project: project?.name ?? '', period })
  }
  const today = { from: now - (now % dayMs), to: now - (now % dayMs) + dayMs }
  const at = new Date(now)
  const [from, to] = [0, 1].map((more) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + more)) as [number, number]
  const month = { from, to }
  if (!billsOverage(organization)) await add('sends_today', sendsPerDay, organizationSendCounter(id, dayOf(now)), today)
  await add('traces_stored', tracesStored, storedTracesCounter(id))
  for (const project of projects) {
    await add('project_sends_today', project.sendBudget, sendCounter(id, project.id, dayOf(now)), today, project)
    await add('captures_month', captureCapOf(project, organization), captureCounter(id, project.id, monthOf(now)), month, project)
  }
  return [...used, ...(await readCredits(database, organization, now))]
}

/** Credits count from the last increase, as for the share that members see. Contracts without a number of credits have no limit. */
async function readCredits(database: Database, { id, plan }: Organization, now: number): Promise<readonly Used[]> {
  const account = (await database.get(creditAccounts, { organizationId: id }, id))?.record
  if (!account || monthlyCredits[plan].credits === undefined) return []
  const grants = (await database.all(creditGrants, { organizationId: id })).map(({ record }) => record)
  const book = new CreditBook(account, grants)
  book.bringUpToDate(plan, now)
  const { baseUcr } = book.account
  if (baseUcr === 0) return []
  const usedUcr = Math.max(0, baseUcr - book.balanceUcr)
  return [{ limit: 'credits', used: usedUcr / ucrPerCredit, allowed: baseUcr / ucrPerCredit, projectId: '', project: '' }]
}
