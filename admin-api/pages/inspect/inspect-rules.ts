/** Requirements of large receivers: the result for each receiver, and each rule. */
import type { CheckStatus, Provider, ProviderRule, Requirement, RuleStatus } from '#core/inspect/report.ts'
import { html, type Html } from '../layout/html.ts'
import { named } from './translated.ts'
import { sign } from './inspect-sign.ts'
import type { ReportTexts } from './report-texts.ts'

const providerNames: Readonly<Record<Provider, string>> = { gmail: 'Gmail', yahoo: 'Yahoo', outlook: 'Outlook.com', icloud: 'iCloud' }

const isMissed = ({ need, status }: ProviderRule): boolean => need === 'must' && status === 'missed'

/** Returns whether a receiver that requires the rule finds it violated. */
export const missesRule = ({ providers }: Requirement): boolean => providers.some(isMissed)

export const rulesSection = (requirements: readonly Requirement[], texts: ReportTexts): Html =>
  html`<section aria-labelledby="rules" class="sheet">
    <h2 id="rules">${texts.rules}</h2>
    <ul class="tallies">
      ${Object.keys(providerNames).map((provider) => tally(provider as Provider, requirements, texts))}
    </ul>
    <p class="meta">${texts.rulesText}</p>
    <ul class="rules">
      ${requirements.map((requirement) => requirementRow(requirement, texts))}
    </ul>
  </section>`

/** Returns the required rules of one receiver, on one line. */
function tally(provider: Provider, requirements: readonly Requirement[], texts: ReportTexts): Html {
  const rules = requirements
    .filter(({ checks }) => checks.length > 0)
    .flatMap(({ providers }) => providers.filter((rule) => rule.provider === provider && rule.need === 'must'))
  const count = (status: RuleStatus): number => rules.filter((rule) => rule.status === status).length
  const [missed, unknown, met] = [count('missed'), count('unknown'), count('met')]
  const outcome: CheckStatus = missed > 0 ? 'fail' : unknown > 0 ? 'na' : 'pass'
  const says =
    missed > 0
      ? texts.misses({ missed, all: missed + met + unknown })
      : unknown > 0
        ? texts.notKnown({ unknown, all: met + unknown })
        : texts.allMet({ all: met })
  return html`<li class="${outcome}">${sign(outcome, texts)} <b>${providerNames[provider]}</b> <span>${says}</span></li>`
}

const ruleSigns: Readonly<Record<RuleStatus, CheckStatus>> = { met: 'pass', missed: 'fail', unknown: 'na', not_applicable: 'na' }

const requirementRow = ({ id, rule, senders, checks, providers }: Requirement, texts: ReportTexts): Html =>
  html`<li>
    <p class="rule">${named(texts, 'ruleNames', id, rule)}${senders === 'bulk' && html` <span class="tag">${texts.bulk}</span>`}</p>
    <ul class="receivers">
      ${providers.map((one) => receiverCell(one, checks.length === 0, texts))}
    </ul>
  </li>`

/** `isUnseen`: no mail can show whether the rule is met. */
function receiverCell({ provider, need, status, refusal }: ProviderRule, isUnseen: boolean, texts: ReportTexts): Html {
  const shown = status === 'missed' && need === 'advised' ? 'warn' : ruleSigns[status]
  const says = isUnseen ? texts.notCheckable : texts.rule[status]
  return html`<li class="${shown} of-${provider}">
    ${sign(shown, texts)} <b>${providerNames[provider]}</b>
    <span>${says}${need === 'advised' && `, ${texts.advised}`}${status === 'missed' && refusal !== null && ` (${refusal})`}</span>
  </li>`
}
