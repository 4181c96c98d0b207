/** Page of an organization for the operator: plan, limits, flags, prices, usage, invoices and audit log. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { isConfirmed } from '../app/boot.ts'
import { useKeys } from '../app/keys.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { showFault, useRead } from '../app/query.ts'
import { Tabs } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { OperatorAccount } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { CreditsTab } from '../operator-billing/credits-tab.tsx'
import { InvoicesTab } from '../operator-billing/invoices-tab.tsx'
import { SitesTab } from '../operator-billing/sites-tab.tsx'
import { AuditTab } from './audit-tab.tsx'
import { FlagsTab, LimitsTab } from './limits-tab.tsx'
import { texts } from './operator-texts.ts'
import { PlanTab } from './plan-tab.tsx'
import { PricesTab } from './prices-tab.tsx'
import { UsageTab } from './usage-tab.tsx'

const tabs = ['plan', 'limits', 'flags', 'prices', 'usage', 'invoices', 'credits', 'sites', 'audit'] as const

/** Tabs that only read, or that ask for a recent sign-in themselves. */
const asksItself: ReadonlySet<string> = new Set(['usage', 'invoices', 'credits', 'sites', 'audit'])

export function OrganizationPage({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/operator/v1/organizations/{id}', { path: { id } }, { isShown: true })
  const tab = tabs.find((one) => one === query.value.get('tab')) ?? 'plan'
  const name = read.data?.name ?? id
  useKeys({ Escape: () => go(link('/operator/organizations')) }, [])
  const heading = (
    <>
      <a href={link('/operator/organizations')}>{w.organizations}</a>
      <SafeText text={name} />
    </>
  )
  return (
    <>
      <TopBar title={plain(name)} heading={heading}>
        {read.data && <span class="tag">{read.data.plan}</span>}
        <a class="button" href={link('/operator/queue', { organization: id })} title={w.itsQueue}>
          <Icon name="queue" />
          <span class="shell-label">{w.itsQueue}</span>
        </a>
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.oneFailed}>
          {(account) => (
            <>
              {account.deleted_at !== null && <Restore account={account} onDone={read.reload} />}
              <Tabs
                label={w.parts}
                value={tab}
                tabs={tabs.map((one) => ({ id: one, label: w[one] }))}
                onChoose={(next) => go(linkHere({ tab: next === 'plan' ? '' : next, cursor: '', new: '' }), { replaces: true })}
              />
              <div role="tabpanel" aria-label={w[tab]} class="operator-tab">
                {!isConfirmed() && !asksItself.has(tab) && <ConfirmNote />}
                {tab === 'plan' && <PlanTab account={account} onChanged={read.reload} />}
                {tab === 'limits' && <LimitsTab account={account} onChanged={read.reload} />}
                {tab === 'flags' && <FlagsTab account={account} onChanged={read.reload} />}
                {tab === 'prices' && <PricesTab account={account} onChanged={read.reload} />}
                {tab === 'usage' && <UsageTab account={account} />}
                {tab === 'invoices' && <InvoicesTab id={id} />}
                {tab === 'credits' && <CreditsTab id={id} />}
                {tab === 'sites' && <SitesTab id={id} />}
                {tab === 'audit' && <AuditTab id={id} />}
              </div>
            </>
          )}
        </Show>
      </div>
    </>
  )
}

function ConfirmNote(): JSX.Element {
  const w = texts()
  const next = location.pathname + location.search
  return (
    <div class="note wash">
      <p>{w.confirmFirst}</p>
      <a class="button small" href={`/sign-in?${new URLSearchParams({ again: '1', next }).toString()}`}>
        {allTexts().confirm}
      </a>
    </div>
  )
}

function Restore({ account, onDone }: { readonly account: OperatorAccount; readonly onDone: () => void }): JSX.Element {
  const w = texts()
  const restore = async (): Promise<void> => {
    try {
      await call('POST /operator/v1/organizations/{id}/restore', { path: { id: account.id } })
      toast(w.restored)
      onDone()
    } catch (error) {
      showFault(error)
    }
  }
  return (
    <div class="note warn operator-restore">
      <p>{w.deletedAt({ at: longTime(account.deleted_at ?? '') })}</p>
      <button class="button small" onClick={() => void restore()}>
        {w.restore}
      </button>
    </div>
  )
}
