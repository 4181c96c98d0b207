/** Screen for sending domains: required DNS records, their state, and a new check. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { isMakingNew, mayAdminister } from '../app/permissions.ts'
import { useList } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { healthMark, healthWord } from '../health/resource-health.tsx'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, Moment } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { SendingDomain } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { DomainPage } from './domain-page.tsx'

export default function Domains({ rest: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <DomainList /> : <DomainPage id={id} />
}

/** Returns the state of the keys, and the health if it says more. */
const stateOf = ({ status, health }: SendingDomain): string =>
  health.state === 'failing' || health.state === 'warning' ? `${status} · ${healthWord(health)}` : status

/** A domain that lost its records has the mark of its findings. */
const markOf = ({ status, health }: SendingDomain): string =>
  status === 'failed' && health.state !== 'failing' ? 'warning' : healthMark(health)

function DomainList(): JSX.Element {
  const w = texts()
  const list = useList('/v1/domains', {})
  return (
    <>
      <TopBar title={w.domains}>
        {mayAdminister.value && (
          <a class="button primary" href={linkHere({ new: '1' })}>
            <Icon name="plus" />
            <span class="shell-label">{w.addDomain}</span>
          </a>
        )}
      </TopBar>
      <div class="sheet">
        <List
          label={w.domains}
          list={list}
          failure={w.domainsFailed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/domains/${id}`)}
          empty={
            <State title={w.noDomains} text={w.noDomainsText}>
              {mayAdminister.value && (
                <div class="actions">
                  <a class="button primary" href={linkHere({ new: '1' })}>
                    {w.addDomain}
                  </a>
                </div>
              )}
            </State>
          }
          columns={[
            { head: w.domain, class: 'strong', cell: ({ id, domain }) => <a href={link(`/domains/${id}`)}>{domain}</a> },
            {
              head: w.status,
              class: 'c-outcome',
              cell: (one) => (
                <span class="status">
                  <Mark name={markOf(one)} />
                  {stateOf(one)}
                </span>
              ),
            },
            {
              head: w.records,
              cell: ({ records }) => records.map(({ purpose, verdict }) => `${purpose} ${verdict ?? w.notChecked}`).join(' · '),
            },
            { head: w.checked, class: 'c-time', cell: ({ checked_at: at }) => (at === null ? '–' : <Moment at={at} />) },
          ]}
          narrow={(one) => [
            <Mark name={markOf(one)} />,
            one.domain,
            stateOf(one),
            one.checked_at === null ? '' : shortTime(one.checked_at, true),
          ]}
        />
      </div>
      {isMakingNew(mayAdminister) && <NewDomain />}
    </>
  )
}

function NewDomain(): JSX.Element {
  const w = texts()
  const [domain, setDomain] = useState(query.value.get('domain') ?? '')
  const close = (): void => go(linkHere({ new: '', domain: '' }), { replaces: true })
  const create = async (): Promise<void> => {
    const { id } = await call('POST /v1/domains', { body: { domain: domain.trim() } })
    go(link(`/domains/${id}`))
  }
  return (
    <FormDialog title={w.addDomain} submit={w.addDomain} onClose={close} onSubmit={create}>
      {(fault) => (
        <TextField label={w.domain} hint={w.domainHint} value={domain} onChange={setDomain} fault={fault?.fields.get('domain')} isMono />
      )}
    </FormDialog>
  )
}
