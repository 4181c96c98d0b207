/** Domains of a website: required DNS records, results of the latest check, and a new check. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { showFault, useRead } from '../app/query.ts'
import { CopyButton, TextField, useBusy } from '../parts/controls.tsx'
import { EndDialog, FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { Show, State } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { SiteDomain } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from '../websites/websites-texts.ts'

export function SiteDomains({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/sites/{id}/domains', { path: { id } })
  const [ending, setEnding] = useState<string>()
  const add = mayChange.value && (
    <a class="button primary" href={linkHere({ do: 'new' })}>
      <Icon name="plus" />
      {w.addDomain}
    </a>
  )
  return (
    <>
      <Show read={read} reload={read.reload} failure={w.domainsFailed}>
        {({ data }) =>
          data.length === 0 ? (
            <State title={w.noDomains} text={w.noDomainsText}>
              <div class="actions">{add}</div>
            </State>
          ) : (
            <>
              <div class="actions site-actions">{add}</div>
              <ul class="records">
                {data.map((one) => (
                  <Domain key={one.domain} siteId={id} domain={one} onChange={read.reload} onEnd={() => setEnding(one.domain)} />
                ))}
              </ul>
            </>
          )
        }
      </Show>
      {mayChange.value && query.value.get('do') === 'new' && <AddDomain id={id} onDone={read.reload} />}
      {ending !== undefined && (
        <EndDialog
          title={w.removeDomain}
          effects={[w.removeDomainEffect]}
          name={ending}
          submit={w.removeDomain}
          onClose={() => setEnding(undefined)}
          onSubmit={async () => {
            await call('DELETE /v1/sites/{id}/domains/{domain}', { path: { id, domain: ending } })
            setEnding(undefined)
            read.reload()
            toast(w.domainGone({ domain: ending }))
          }}
        />
      )}
    </>
  )
}

interface DomainProps {
  readonly siteId: string
  readonly domain: SiteDomain
  readonly onChange: () => void
  readonly onEnd: () => void
}

function Domain({ siteId, domain: one, onChange, onEnd }: DomainProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [isBusy, start] = useBusy()
  const check = async (): Promise<void> => {
    try {
      const { status } = await call('POST /v1/sites/{id}/domains/{domain}/verify', { path: { id: siteId, domain: one.domain } })
      onChange()
      toast(status === 'verified' ? w.checked({ domain: one.domain }) : w.notYet({ domain: one.domain }))
    } catch (error) {
      showFault(error)
    }
  }
  return (
    <li>
      <Mark name={one.status === 'verified' ? 'ok' : one.problem === null ? 'pending' : 'warning'} />
      <div>
        <h3>
          {one.domain} <span class="faint">{w.domainStatuses[one.status]}</span>
        </h3>
        {one.problem !== null && <p lang="en">{one.problem}</p>}
        {one.status === 'pending' && <p class="soft">{w.publish}</p>}
        {one.records.map(({ type, name, value }) => (
          <dl class="facts dns-record" key={`${type} ${name}`}>
            <dt>{type}</dt>
            <dd class="mono">
              {name} <CopyButton text={name} label={`${common.copy}: ${type} ${common.name}`} />
            </dd>
            <dt>{w.value}</dt>
            <dd class="mono">
              {value} <CopyButton text={value} label={`${common.copy}: ${type} ${w.value}`} />
            </dd>
          </dl>
        ))}
        <p class="faint">{one.checked_at === null ? w.neverChecked : w.checkedAt({ time: longTime(one.checked_at) })}</p>
        {mayChange.value && (
          <div class="actions">
            <button class="button small" aria-disabled={isBusy} onClick={() => start(check)}>
              <Icon name="refresh" />
              {w.checkNow}
            </button>
            <button class="button small danger" onClick={onEnd}>
              {w.removeDomain}
            </button>
          </div>
        )}
      </div>
    </li>
  )
}

function AddDomain({ id, onDone }: { readonly id: string; readonly onDone: () => void }): JSX.Element {
  const w = texts()
  const [domain, setDomain] = useState('')
  const close = (): void => go(linkHere({ do: '' }), { replaces: true })
  return (
    <FormDialog
      title={w.addDomain}
      submit={w.addDomain}
      onClose={close}
      onSubmit={async () => {
        await call('POST /v1/sites/{id}/domains', { path: { id }, body: { domain: domain.trim() } })
        close()
        onDone()
      }}
    >
      {(fault) => (
        <TextField label={w.domain} hint={w.domainHint} value={domain} onChange={setDomain} fault={fault?.fields.get('domain')} isMono />
      )}
    </FormDialog>
  )
}
