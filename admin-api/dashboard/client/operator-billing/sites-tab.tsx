/** Websites of an organization, with actions that take a site down or restore it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { useList } from '../app/query.ts'
import { change } from '../operator/tab.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { markOf, SiteStatus, statusOf } from '../websites/site-status.tsx'
import { texts as siteTexts } from '../websites/websites-texts.ts'
import type { Site } from '../wire/api.d.ts'
import { texts } from './operator-billing-texts.ts'

export function SitesTab({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const list = useList('/operator/v1/organizations/{id}/sites', { path: { id } })
  const [ending, setEnding] = useState<Site>()
  const back = ({ id: siteId, slug }: Site): void =>
    void change(() => call('DELETE /operator/v1/sites/{id}/takedown', { path: { id: siteId } }), w.isBack({ name: slug }), list.reload)
  const act = (site: Site): JSX.Element =>
    site.takedown === null ? (
      <button class="button small danger" onClick={() => setEnding(site)}>
        {w.takeDown}
      </button>
    ) : (
      <button class="button small" onClick={() => back(site)}>
        {w.letBack}
      </button>
    )
  return (
    <>
      <List
        label={siteTexts().title}
        list={list}
        failure={w.sitesFailed}
        keyOf={(site) => site.id}
        empty={<State title={w.noSites} text={w.noSitesText} />}
        columns={[
          {
            head: siteTexts().website,
            class: 'strong',
            cell: ({ url, slug }) => (
              <a href={url} target="_blank" rel="noopener noreferrer">
                {slug}
              </a>
            ),
          },
          { head: 'Id', class: 'c-spare', cell: ({ id: siteId }) => <code>{siteId}</code> },
          { head: siteTexts().status, class: 'c-status', cell: (site) => <SiteStatus site={site} /> },
          {
            head: w.reason,
            cell: ({ takedown }) =>
              takedown && (
                <span title={plain(takedown.reason)}>
                  {takedown.status}: <SafeText text={takedown.reason} />
                </span>
              ),
          },
          { head: '', class: 'c-act num', cell: act },
        ]}
        narrow={(site) => [
          <Mark name={markOf(site)} />,
          site.slug,
          site.takedown ? `${String(site.takedown.status)}: ${plain(site.takedown.reason)}` : siteTexts().statuses[statusOf(site)],
          act(site),
        ]}
      />
      {ending && <TakeDown site={ending} onClose={() => setEnding(undefined)} onDone={list.reload} />}
    </>
  )
}

interface TakeDownProps {
  readonly site: Site
  readonly onClose: () => void
  readonly onDone: () => void
}

function TakeDown({ site: { id, slug }, onClose, onDone }: TakeDownProps): JSX.Element {
  const w = texts()
  const [status, setStatus] = useState<'451' | '410'>('451')
  const [reason, setReason] = useState('')
  const run = async (): Promise<void> => {
    await call('PUT /operator/v1/sites/{id}/takedown', {
      path: { id },
      body: { status: status === '451' ? 451 : 410, reason: reason.trim() },
    })
    onClose()
    onDone()
    toast(w.takenDown({ name: slug }))
  }
  return (
    <FormDialog
      title={w.takeDownTitle({ name: slug })}
      submit={w.takeDown}
      isDangerous
      needsConfirmation
      isReady={reason.trim() !== ''}
      onClose={onClose}
      onSubmit={run}
    >
      {(fault) => (
        <>
          <ul class="effects">
            <li>{w.takeDownEffects.visitors}</li>
            <li>{w.takeDownEffects.log}</li>
          </ul>
          <ChooseField
            label={w.answer}
            value={status}
            onChange={(value) => setStatus(value as typeof status)}
            options={[
              ['451', w.answers[451]],
              ['410', w.answers[410]],
            ]}
          />
          <TextField label={w.reason} value={reason} onChange={setReason} fault={fault?.fields.get('reason')} />
        </>
      )}
    </FormDialog>
  )
}
