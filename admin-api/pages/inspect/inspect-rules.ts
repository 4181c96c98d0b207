/** What large receivers require: how each of them sees the mail, and rule by rule. */
import type { CheckStatus, Provider, ProviderRule, Requirement, RuleStatus } from '#core/inspect/report.ts'
import { html, type Html } from '../layout/html.ts'
import { sign } from './inspect-sign.ts'

const providerNames: Readonly<Record<Provider, string>> = { gmail: 'Gmail', yahoo: 'Yahoo', outlook: 'Outlook.com', icloud: 'iCloud' }

const isMissed = ({ need, status }: ProviderRule): boolean => need === 'must' && status === 'missed'

/** Whether a receiver that insists on the rule finds it broken. */
export const missesRule = ({ providers }: Requirement): boolean => providers.some(isMissed)

export const rulesSection = (requirements: readonly Requirement[]): Html =>
  html`<section aria-labelledby="rules" class="sheet">
    <h2 id="rules">What large receivers require</h2>
    <ul class="tallies">
      ${Object.keys(providerNames).map((provider) => tally(provider as Provider, requirements))}
    </ul>
    <p class="meta">
      Rules for bulk mail count for senders of more than 5,000 mails a day; keeping them helps everybody. A code is how a receiver refuses
      mail that misses the rule.
    </p>
    <ul class="rules">
      ${requirements.map(requirementRow)}
    </ul>
  </section>`

/** All that one receiver insists on, in a line. */
function tally(provider: Provider, requirements: readonly Requirement[]): Html {
  const rules = requirements
    .filter(({ checks }) => checks.length > 0)
    .flatMap(({ providers }) => providers.filter((rule) => rule.provider === provider && rule.need === 'must'))
  const count = (status: RuleStatus): number => rules.filter((rule) => rule.status === status).length
  const [missed, unknown, met] = [count('missed'), count('unknown'), count('met')]
  const outcome: CheckStatus = missed > 0 ? 'fail' : unknown > 0 ? 'na' : 'pass'
  const words =
    missed > 0
      ? `misses ${missed} of ${missed + met + unknown} rules`
      : unknown > 0
        ? `${unknown} of ${met + unknown} rules not known`
        : `all ${met} rules met`
  return html`<li class="${outcome}">${sign(outcome)} <b>${providerNames[provider]}</b> <span>${words}</span></li>`
}

const ruleWords: Readonly<Record<RuleStatus, string>> = {
  met: 'met',
  missed: 'missed',
  unknown: 'not known',
  not_applicable: 'not for this mail',
}
const ruleSigns: Readonly<Record<RuleStatus, CheckStatus>> = { met: 'pass', missed: 'fail', unknown: 'na', not_applicable: 'na' }

const requirementRow = ({ rule, senders, checks, providers }: Requirement): Html =>
  html`<li>
    <p class="rule">${rule}${senders === 'bulk' && html` <span class="tag">bulk mail</span>`}</p>
    <ul class="receivers">
      ${providers.map((one) => receiverCell(one, checks.length === 0))}
    </ul>
  </li>`

/** `isUnseen`: no mail can show whether the rule is kept. */
function receiverCell({ provider, need, status, refusal }: ProviderRule, isUnseen: boolean): Html {
  const shown = status === 'missed' && need === 'advised' ? 'warn' : ruleSigns[status]
  const words = isUnseen ? 'not checkable' : ruleWords[status]
  return html`<li class="${shown} of-${provider}">
    ${sign(shown)} <b>${providerNames[provider]}</b>
    <span>${words}${need === 'advised' && ', advised'}${status === 'missed' && refusal !== null && ` (${refusal})`}</span>
  </li>`
}
