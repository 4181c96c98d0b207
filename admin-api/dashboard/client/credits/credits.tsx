/** Screen for the credits of the organization: balance, grants, use and ledger. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { link } from '../app/location.ts'
import { mayRead } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { useFlag } from '../parts/feature.tsx'
import { Mark } from '../parts/mark.tsx'
import { Show } from '../parts/states.tsx'
import { credits as shown, dateOnly } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { lasting, perDayOf, useSiteUsages, type SiteUsages } from '../websites/site-usages.ts'
import type { Credits, Site } from '../wire/api.d.ts'
import { texts } from '../billing/billing-texts.ts'
import { CreditBurnDown } from '../plots/credit-burn-down.tsx'
import { CreditGrants } from './credit-grants.tsx'
import { CreditLedger } from './credit-ledger.tsx'
import { CreditSites } from './credit-sites.tsx'

export default function CreditScreen(): JSX.Element {
  const w = texts()
  const read = useRead('/v1/billing/credits', {}, { isShown: true })
  const sites = useSites()
  const usages = useSiteUsages(sites)
  return (
    <>
      <TopBar title={w.credits} />
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.creditsFailed}>
          {(credits) => (
            <>
              <div class="say">
                <h2>{sayOf(credits)}</h2>
                <p>
                  {w.creditsText} <a href="/docs/billing">{w.chapter}</a>
                </p>
              </div>
              <Alert credits={credits} />
              <Figures credits={credits} sites={sites} usages={usages} />
              <CreditBurnDown credits={credits} />
              <CreditGrants grants={credits.grants} />
            </>
          )}
        </Show>
        {sites && sites.length > 0 && <CreditSites sites={sites} usages={usages} />}
        <CreditLedger sites={sites} />
      </div>
    </>
  )
}

/** Returns the websites. Undefined if the role may not read them or the feature is disabled. */
function useSites(): readonly Site[] | undefined {
  const flag = useFlag('managed_websites')
  const list = useAll('/v1/sites', mayRead.value && flag?.enabled === true ? {} : undefined)
  return list.read.data
}

function sayOf({ balance_credits: balance, is_unlimited: isUnlimited, has_credit: hasCredit }: Credits): string {
  const w = texts()
  if (isUnlimited) return w.sayByContract
  return hasCredit ? w.sayLeft({ amount: shown(balance) }) : w.sayNone
}

function Alert({ credits: { alert_percent: percent, has_credit: hasCredit } }: { readonly credits: Credits }): JSX.Element | null {
  const w = texts()
  if (percent === 0 && hasCredit) return null
  const isGone = !hasCredit
  return (
    <div class={isGone ? 'note bad credit-alert' : 'note warn credit-alert'}>
      <Mark name={isGone ? 'failed' : 'warning'} />
      <p>
        <b>{isGone ? w.allUsed : w.mostUsed({ percent })}</b> {isGone ? w.allUsedText : w.mostUsedText}
      </p>
    </div>
  )
}

interface FiguresProps {
  readonly credits: Credits
  readonly sites: readonly Site[] | undefined
  readonly usages: SiteUsages
}

function Figures({ credits, sites, usages }: FiguresProps): JSX.Element {
  const w = texts()
  const perDay = sites && perDayOf(sites, usages)
  const next = credits.grants.find(({ expires_at: at }) => at !== null)
  return (
    <dl class="ledger">
      <div>
        <dt>{w.balance}</dt>
        <dd>
          <b>{credits.is_unlimited ? w.contract : shown(credits.balance_credits)}</b>
        </dd>
      </div>
      {perDay !== undefined && (
        <>
          <div>
            <dt>{w.perDay}</dt>
            <dd>
              <b>{shown(String(perDay))}</b> <a href={link('/websites')}>{w.websites}</a>
            </dd>
          </div>
          {!credits.is_unlimited && (
            <div>
              <dt>{w.lasts}</dt>
              <dd>
                <b>{lasting(credits, perDay)}</b>
              </dd>
            </div>
          )}
        </>
      )}
      {next?.expires_at && (
        <div>
          <dt>{w.nextToExpire}</dt>
          <dd>
            <b>{shown(next.remaining)}</b> <span>{w.on({ date: dateOnly(next.expires_at) })}</span>
          </dd>
        </div>
      )}
    </dl>
  )
}
