/** Deploys of a website: upload, live deploy, rollback, previews and report summaries. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { showFault, useList } from '../app/query.ts'
import { FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, type Column } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { bytes, longTime, number, shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { ShortId } from '../websites/site-status.tsx'
import { texts } from '../websites/websites-texts.ts'
import type { Site, SiteDeploy } from '../wire/api.d.ts'
import { DeployUpload } from './deploy-upload.tsx'
import { Findings } from './findings.tsx'

interface DeploysProps {
  readonly site: Site
  readonly onChange: () => void
}

export function Deploys({ site, onChange }: DeploysProps): JSX.Element {
  const w = texts()
  const list = useList('/v1/sites/{id}/deploys', { path: { id: site.id } }, { isShown: false })
  const [ending, setEnding] = useState<SiteDeploy>()
  const reload = (): void => {
    list.reload()
    onChange()
  }
  const activate = async ({ id }: Pick<SiteDeploy, 'id'>, before: string | null): Promise<void> => {
    try {
      await call('POST /v1/sites/{id}/deploys/{deploy_id}/activate', { path: { id: site.id, deploy_id: id } })
      reload()
      toast(w.activated, before === null ? undefined : () => void activate({ id: before }, null))
    } catch (error) {
      showFault(error)
    }
  }
  const doing: Doing = { site, onActivate: (deploy) => void activate(deploy, site.active_deploy_id), onEnd: setEnding }
  return (
    <>
      {mayChange.value && <DeployUpload site={site} onDone={reload} />}
      <List
        label={w.deploys}
        list={list}
        failure={w.deploysFailed}
        keyOf={({ id }) => id}
        empty={<p class="no-rows soft">{w.noDeploys}</p>}
        columns={columns(doing)}
        narrow={(one) => [
          <Mark name={markOf(one, site)} />,
          <a href={link(`/websites/${site.id}/deploys/${one.id}`)}>{shortTime(one.created_at)}</a>,
          `${stateOf(one, site)} · ${w.filesCount({ n: one.files })} · ${bytes(one.bytes)}`,
          <Actions deploy={one} doing={doing} />,
        ]}
      />
      {(list.read.data?.length ?? 0) > 0 && <p class="no-rows faint">{w.kept}</p>}
      {ending && <EndDeploy deploy={ending} onClose={() => setEnding(undefined)} onDone={reload} />}
    </>
  )
}

interface Doing {
  readonly site: Site
  readonly onActivate: (deploy: SiteDeploy) => void
  readonly onEnd: (deploy: SiteDeploy) => void
}

const isLive = ({ id }: SiteDeploy, site: Site): boolean => site.active_deploy_id === id

const markOf = (deploy: SiteDeploy, site: Site): string => (isLive(deploy, site) ? 'live' : deploy.status === 'ready' ? 'none' : 'pending')

const stateOf = (deploy: SiteDeploy, site: Site): string => {
  const w = texts()
  if (isLive(deploy, site)) return w.isLive
  return deploy.status === 'ready' ? w.ready : w.uploadingNow
}

function columns(doing: Doing): readonly Column<SiteDeploy>[] {
  const w = texts()
  const { site } = doing
  return [
    {
      head: w.status,
      class: 'c-status',
      cell: (one) => (
        <span class="status">
          <Mark name={markOf(one, site)} />
          {stateOf(one, site)}
        </span>
      ),
    },
    {
      head: w.made,
      class: 'c-outcome strong',
      cell: ({ id, created_at: at }) => (
        <a href={link(`/websites/${site.id}/deploys/${id}`)}>
          <time datetime={at} title={longTime(at)}>
            {shortTime(at)}
          </time>
        </a>
      ),
    },
    { head: w.deploy, class: 'c-took c-spare', cell: ({ id }) => <ShortId id={id} /> },
    { head: w.files, class: 'c-took c-spare num', cell: ({ files }) => number(files) },
    { head: w.size, class: 'c-took c-spare num', cell: ({ bytes: size }) => bytes(size) },
    { head: w.findings, cell: ({ report }) => <Findings report={report} /> },
    { head: '', class: 'c-deploy-buttons', cell: (one) => <Actions deploy={one} doing={doing} /> },
  ]
}

function Actions({ deploy, doing: { site, onActivate, onEnd } }: { readonly deploy: SiteDeploy; readonly doing: Doing }): JSX.Element {
  const w = texts()
  const live = isLive(deploy, site)
  const isOlder = site.active_deploy_id !== null && deploy.id < site.active_deploy_id
  const isReady = deploy.status === 'ready'
  return (
    <span class="row-buttons">
      {isReady && deploy.preview_url !== '' && (
        <a class="button small" href={deploy.preview_url} target="_blank" rel="noopener noreferrer">
          {w.preview}
        </a>
      )}
      {mayChange.value && isReady && !live && (
        <button class="button small" onClick={() => onActivate(deploy)}>
          {isOlder ? w.rollBack : w.activate}
        </button>
      )}
      {mayChange.value && !live && (
        <button class="button small quiet square" aria-label={`${w.deleteDeploy}: ${deploy.id.slice(-8)}`} onClick={() => onEnd(deploy)}>
          <Icon name="trash" />
        </button>
      )}
    </span>
  )
}

interface EndProps {
  readonly deploy: SiteDeploy
  readonly onClose: () => void
  readonly onDone: () => void
}

const EndDeploy = ({ deploy: { site_id: site, id }, onClose, onDone }: EndProps): JSX.Element => (
  <FormDialog
    title={texts().deleteDeploy}
    submit={texts().deleteDeploy}
    isDangerous
    onClose={onClose}
    onSubmit={async () => {
      await call('DELETE /v1/sites/{id}/deploys/{deploy_id}', { path: { id: site, deploy_id: id } })
      onClose()
      onDone()
      toast(texts().deployGone)
    }}
  >
    {() => (
      <ul class="effects">
        <li>{texts().deleteDeployEffect}</li>
      </ul>
    )}
  </FormDialog>
)
