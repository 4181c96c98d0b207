/** Page of a website: live deploy, deploys, domains and usage. */
import type { JSX } from 'preact'
import { HealthLine } from '../health/resource-health.tsx'
import { useKeys } from '../app/keys.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { CopyButton, Tabs } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Show } from '../parts/states.tsx'
import { bytes, credits } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { Site, SiteUsage } from '../wire/api.d.ts'
import { lasting } from '../websites/site-usages.ts'
import { statusOf } from '../websites/site-status.tsx'
import { texts } from '../websites/websites-texts.ts'
import { Deploys } from './deploys.tsx'
import { SiteDomains } from './site-domains.tsx'
import { SiteMenu } from './site-menu.tsx'
import { SiteTraffic } from './site-traffic.tsx'

const tabs = ['deploys', 'domains', 'traffic'] as const

export default function SitePage({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/sites/{id}', { path: { id } }, { isShown: true })
  const usage = useRead('/v1/sites/{id}/usage', { path: { id } })
  const tab = tabs.find((one) => one === query.value.get('tab')) ?? 'deploys'
  const { slug = '', url = '' } = read.data ?? {}
  useKeys({ Escape: () => go(link('/websites')) }, [])
  const heading = (
    <>
      <a href={link('/websites')}>{w.title}</a>
      <span>{slug}</span>
    </>
  )
  return (
    <>
      <TopBar title={slug || w.website} heading={heading}>
        {url !== '' && (
          <a class="button" href={url} target="_blank" rel="noopener noreferrer" title={w.open}>
            <Icon name="open" />
            <span class="shell-label">{w.open}</span>
          </a>
        )}
        {read.data && mayChange.value && <SiteMenu site={read.data} onChange={read.reload} />}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.siteFailed}>
          {(site) => (
            <>
              <Says site={site} />
              {site.domains.length > 0 && <HealthLine health={site.health} />}
              <Figures usage={usage.data} />
              <Tabs
                label={w.parts}
                value={tab}
                tabs={tabs.map((one) => ({ id: one, label: w.tabs[one] }))}
                onChoose={(next) => go(linkHere({ tab: next === 'deploys' ? '' : next }), { replaces: true })}
              />
              <div role="tabpanel" aria-label={w.tabs[tab]}>
                {tab === 'deploys' && <Deploys site={site} onChange={() => (read.reload(), usage.reload())} />}
                {tab === 'domains' && <SiteDomains id={id} />}
                {tab === 'traffic' && <SiteTraffic read={usage} name={slug} />}
              </div>
            </>
          )}
        </Show>
      </div>
    </>
  )
}

function Says({ site }: { readonly site: Site }): JSX.Element {
  const w = texts()
  const status = statusOf(site)
  const text =
    status === 'taken_down'
      ? w.sayText.taken_down({ status: site.takedown?.status ?? 0, reason: site.takedown?.reason ?? '' })
      : w.sayText[status]
  return (
    <div class="say">
      <h2>{w.say[status]({ name: site.slug })}</h2>
      <p>{text}</p>
      {site.url !== '' && (
        <p class="site-address">
          <a class="mono" href={site.url} target="_blank" rel="noopener noreferrer">
            {site.url}
          </a>
          <CopyButton text={site.url} label={w.copyAddress} />
        </p>
      )}
    </div>
  )
}

function Figures({ usage }: { readonly usage: SiteUsage | undefined }): JSX.Element {
  const w = texts()
  const owned = useRead('/v1/billing/credits', {}).data
  return (
    <dl class="ledger follows">
      <div>
        <dt>{w.stored}</dt>
        <dd>
          <b>{usage ? bytes(usage.stored_bytes) : '–'}</b>
        </dd>
      </div>
      <div>
        <dt>{w.traffic}</dt>
        <dd>
          <b>{usage ? bytes(usage.traffic_bytes) : '–'}</b>
        </dd>
      </div>
      <div>
        <dt>{w.perDay}</dt>
        <dd>
          <b>{usage ? credits(usage.credits_per_day) : '–'}</b>
        </dd>
      </div>
      <div>
        <dt>{w.balance}</dt>
        <dd>
          <b>{owned ? (owned.is_unlimited ? w.byContract : credits(owned.balance_credits)) : '–'}</b>{' '}
          <a href={link('/settings/credits')}>{w.seeCredits}</a>
        </dd>
      </div>
      {owned && usage && !owned.is_unlimited && (
        <div>
          <dt>{w.lastAlone}</dt>
          <dd>
            <b>{lasting(owned, Number(usage.credits_per_day))}</b>
          </dd>
        </div>
      )}
    </dl>
  )
}
