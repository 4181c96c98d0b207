/** List of websites, and the remaining days of credits at the current use. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go, link, linkHere, projectId } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { useList, useRead } from '../app/query.ts'
import { FeatureNote, useFlag } from '../parts/feature.tsx'
import { List, type Column } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { State } from '../parts/states.tsx'
import { bytes, credits, decimal } from '../parts/time.ts'
import { NewLink, TopBar } from '../parts/top-bar.tsx'
import type { Site } from '../wire/api.d.ts'
import { DropPlace } from './drop-place.tsx'
import { NewSite } from './new-site.tsx'
import { DeployLine } from './deploy-line.tsx'
import { markOf, ShortId, SiteStatus, wordOf } from './site-status.tsx'
import { lasting, perDayOf, useSiteUsages, type SiteUsages } from './site-usages.ts'
import { texts } from './websites-texts.ts'

export function SiteList(): JSX.Element {
  const w = texts()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList('/v1/sites', { query: project })
  const flag = useFlag('managed_websites')
  const [dropped, setDropped] = useState<File>()
  const rows = list.read.data
  const usages = useSiteUsages(rows)
  const isWhole = projectId.value === undefined && list.more === undefined
  return (
    <>
      <TopBar title={w.title}>{mayChange.value && <NewLink label={w.newSite} />}</TopBar>
      <div class="sheet">
        <FeatureNote flag={flag} />
        {rows && rows.length > 0 && isWhole && <Lasting sites={rows} usages={usages} />}
        <List
          label={w.title}
          list={list}
          failure={w.failed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/websites/${id}`)}
          empty={<Nothing onFile={(file) => (setDropped(file), go(linkHere({ new: '1' })))} />}
          columns={columns(usages)}
          narrow={(one) => [<Mark name={markOf(one)} />, one.slug, [wordOf(one), sentBy(usages, one)].join(' · '), perDay(usages, one)]}
        />
      </div>
      {isMakingNew(mayChange) && (
        <NewSite
          file={dropped}
          onClose={() => {
            setDropped(undefined)
            go(linkHere({ new: '' }), { replaces: true })
          }}
        />
      )}
    </>
  )
}

const sentBy = (usages: SiteUsages, { id }: Site): string => {
  const usage = usages.get(id)
  return usage ? bytes(usage.traffic_bytes) : '–'
}
const storedBy = (usages: SiteUsages, { id }: Site): string => {
  const usage = usages.get(id)
  return usage ? bytes(usage.stored_bytes) : '–'
}
const perDay = (usages: SiteUsages, { id }: Site): string => {
  const usage = usages.get(id)
  return usage ? credits(usage.credits_per_day) : '–'
}

function columns(usages: SiteUsages): readonly Column<Site>[] {
  const w = texts()
  return [
    { head: w.website, class: 'strong', cell: ({ id, slug }) => <a href={link(`/websites/${id}`)}>{slug}</a> },
    {
      head: w.address,
      cell: ({ url }) => (
        <a class="mono" href={url} target="_blank" rel="noopener noreferrer">
          {url.replace(/^https?:\/\//, '')}
        </a>
      ),
    },
    { head: w.status, class: 'c-status', cell: (site) => <SiteStatus site={site} /> },
    {
      head: w.liveDeploy,
      class: 'c-outcome c-spare',
      cell: ({ id, active_deploy_id: deploy }) =>
        deploy === null ? (
          '–'
        ) : (
          <a href={link(`/websites/${id}/deploys/${deploy}`)}>
            <ShortId id={deploy} />
          </a>
        ),
    },
    { head: w.stored, class: 'c-took c-spare num', cell: (site) => storedBy(usages, site) },
    { head: w.traffic, class: 'c-outcome num', cell: (site) => sentBy(usages, site) },
    { head: w.perDay, class: 'c-outcome num', cell: (site) => perDay(usages, site) },
  ]
}

/** Daily cost of all websites, and the days until the credits are used up. */
function Lasting({ sites, usages }: { readonly sites: readonly Site[]; readonly usages: SiteUsages }): JSX.Element | null {
  const w = texts()
  const read = useRead('/v1/billing/credits', {})
  const all = perDayOf(sites, usages)
  if (!read.data) return null
  const { balance_credits: balance, is_unlimited: isUnlimited } = read.data
  return (
    <dl class="ledger follows">
      <div>
        <dt>{w.balance}</dt>
        <dd>
          <b>{isUnlimited ? '–' : decimal(Number(balance), 0, 2)}</b> <span>{isUnlimited ? w.byContract : w.balanceOf}</span>
        </dd>
      </div>
      <div>
        <dt>{w.perDay}</dt>
        <dd>
          <b>{all === undefined ? '–' : credits(String(all))}</b> <span>{w.atPace}</span>
        </dd>
      </div>
      <div>
        <dt>{w.daysLeft}</dt>
        <dd>
          <b>{all === undefined ? '–' : lasting(read.data, all)}</b> <a href={link('/settings/credits')}>{w.seeCredits}</a>
        </dd>
      </div>
    </dl>
  )
}

function Nothing({ onFile }: { readonly onFile: (file: File) => void }): JSX.Element {
  const w = texts()
  if (!mayChange.value) return <State title={w.none} text={w.noneToRead} />
  return (
    <State title={w.none} text={w.noneText}>
      <DeployLine slug="my-site" />
      <DropPlace onFile={onFile} />
      <p>
        <a href="/docs/websites">{w.chapter}</a>
      </p>
    </State>
  )
}
