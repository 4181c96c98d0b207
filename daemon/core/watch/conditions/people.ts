/** Conditions that people must act on: approvals, payment, and attacks on logins. Pure. */
import type { SmtpCredential } from '../../access/smtp-credential.ts'
import { projectNames } from '../../insights/count.ts'
import type { Organization, Project } from '../../tenancy/organization.ts'
import { observedAs, type Condition } from '../condition.ts'
import { bySubject, sumOf } from '../reading/steps.ts'
import type { ProjectFigures } from './mail.ts'

/** Failed sign-ins of one login within an hour. */
const attacked = 100

/** Messages of agents that wait for a person. */
export const approvalConditions = ({ id, name }: Pick<Project, 'id' | 'name'>, count: number): readonly Condition[] =>
  count === 0 ? [] : [observedAs(undefined, 'approval.waiting', id, { project: name, count }, id)]

/** `month`: of the oldest overdue invoice. */
export const organizationConditions = ({ paymentState }: Organization, month: string | undefined): readonly Condition[] =>
  paymentState === 'past_due' ? [observedAs(undefined, 'payment.overdue', '', { month: month ?? 'none' })] : []

/** Failed sign-ins are counted under the id of the login. */
export const attackConditions = (
  { project, steps, periods }: ProjectFigures,
  credentials: ReadonlyMap<string, Pick<SmtpCredential, 'label'>>,
): readonly Condition[] =>
  [...bySubject(steps)].flatMap(([id, own]): Condition[] => {
    const login = credentials.get(id)
    const count = login ? (sumOf(own, periods.hour, () => true).get(projectNames.loginRefused) ?? 0) : 0
    return !login || count < attacked ? [] : [observedAs(undefined, 'login.attacked', id, { login: login.label, count }, project.id)]
  })
