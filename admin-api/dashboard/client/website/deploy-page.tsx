/** Page of a website deploy with its report: dead links, images without alt text, forms, and rules without effect. */
import type { ComponentChildren, JSX } from 'preact'
import { useKeys } from '../app/keys.ts'
import { go, link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { bytes, longTime, number } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { ShortId } from '../websites/site-status.tsx'
import { texts } from '../websites/websites-texts.ts'
import type { OpenSiteDeploy, SiteDeployReport } from '../wire/api.d.ts'

export default function DeployPage({ id, deployId }: { readonly id: string; readonly deployId: string }): JSX.Element {
  const w = texts()
  const site = useRead('/v1/sites/{id}', { path: { id } }).data
  const read = useRead('/v1/sites/{id}/deploys/{deploy_id}', { path: { id, deploy_id: deployId } }, { isShown: true })
  useKeys({ Escape: () => go(link(`/websites/${id}`)) }, [id])
  const heading = (
    <>
      <a href={link(`/websites/${id}`)}>{site?.slug ?? w.website}</a>
      <ShortId id={deployId} />
    </>
  )
  return (
    <>
      <TopBar title={`${site?.slug ?? ''} ${deployId.slice(-8)}`.trim()} heading={heading}>
        {read.data && read.data.preview_url !== '' && read.data.status === 'ready' && (
          <a class="button" href={read.data.preview_url} target="_blank" rel="noopener noreferrer" title={w.preview}>
            <Icon name="open" />
            <span class="shell-label">{w.preview}</span>
          </a>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.deployFailed}>
          {(deploy) => <Whole deploy={deploy} isLive={site?.active_deploy_id === deploy.id} />}
        </Show>
      </div>
    </>
  )
}

function Whole({ deploy, isLive }: { readonly deploy: OpenSiteDeploy; readonly isLive: boolean }): JSX.Element {
  const w = texts()
  const { report, missing, files, bytes: size, created_at: at, status } = deploy
  return (
    <>
      <div class="say">
        <h2>{report ? w.reportSay({ pages: report.pages }) : w.missing({ n: missing.length })}</h2>
        {!report && <p>{w.noReport}</p>}
        {report && report.ignored > 0 && <p>{w.ignored({ n: report.ignored })}</p>}
      </div>
      <dl class="ledger follows">
        <div>
          <dt>{w.status}</dt>
          <dd>
            <b>{isLive ? w.isLive : status === 'ready' ? w.ready : w.uploadingNow}</b>
          </dd>
        </div>
        <div>
          <dt>{w.files}</dt>
          <dd>
            <b>{number(files)}</b> <span>{bytes(size)}</span>
          </dd>
        </div>
        <div>
          <dt>{w.made}</dt>
          <dd>
            <b>{longTime(at)}</b>
          </dd>
        </div>
      </dl>
      {report && <Report report={report} />}
    </>
  )
}

function Report({ report: { broken_links: broken, missing_alt: alt, forms, rules } }: { readonly report: SiteDeployReport }): JSX.Element {
  const w = texts()
  return (
    <>
      <Part title={w.brokenTitle} none={w.noBroken} count={broken.count} shown={broken.first.length}>
        <Table label={w.brokenTitle} heads={[w.onPage, w.link]} rows={broken.first.map(({ page, link: to }) => [page, to])} />
      </Part>
      <Part title={w.altTitle} none={w.noAlt} count={alt.count} shown={alt.first.length}>
        <Table label={w.altTitle} heads={[w.onPage, w.image]} rows={alt.first.map(({ page, image }) => [page, image])} />
      </Part>
      <Part title={w.rulesTitle} none={w.noRules} count={rules.length} shown={rules.length}>
        <Table
          label={w.rulesTitle}
          heads={[w.line, w.problem]}
          rows={rules.map(({ file, line, problem }) => [`${file}:${String(line)}`, problem])}
        />
      </Part>
      <Part title={w.formsTitle} none={w.noForms} count={forms.length} shown={forms.length} isGood>
        <Table label={w.formsTitle} heads={[w.onPage, w.form]} rows={forms.map(({ page, form }) => [page, form])} />
      </Part>
    </>
  )
}

interface PartProps {
  readonly title: string
  /** Text for an empty section. */
  readonly none: string
  readonly count: number
  readonly shown: number
  readonly isGood?: boolean
  readonly children: ComponentChildren
}

const Part = ({ title, none, count, shown, isGood = false, children }: PartProps): JSX.Element => (
  <section aria-label={title} class="report-part">
    <div class="head">
      <Mark name={count === 0 ? (isGood ? 'none' : 'ok') : isGood ? 'ok' : 'warning'} />
      <h2>
        {title} {count > 0 && <span class="faint">{number(count)}</span>}
      </h2>
    </div>
    {count === 0 ? <p class="no-rows soft">{none}</p> : children}
    {count > shown && <p class="no-rows faint">{texts().andMore({ n: count - shown })}</p>}
  </section>
)

interface TableProps {
  readonly label: string
  readonly heads: readonly [string, string]
  readonly rows: readonly (readonly [string, string])[]
}

const Table = ({ label, heads, rows }: TableProps): JSX.Element => (
  <table class="table still-table report-table" aria-label={label}>
    <thead>
      <tr>
        {heads.map((head) => (
          <th key={head}>{head}</th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(([first, second], i) => (
        <tr class="still" key={i}>
          <td class="mono">
            <SafeText text={first} />
          </td>
          <td class="mono">
            <SafeText text={second} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)
