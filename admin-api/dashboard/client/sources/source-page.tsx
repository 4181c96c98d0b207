/** Page of a bounce source: reports, unmatched reports, installation, secret and deletion. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { mayAdminister } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { HealthLine, healthMark } from '../health/resource-health.tsx'
import { copy } from '../parts/controls.tsx'
import { EndDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { Facts, plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime, number, shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { IngestSourceDetail } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { snippetOf } from './install.ts'
import { LastDay } from './last-day.tsx'
import { Mappings } from './mappings.tsx'
import { RotateSecret } from './rotate-secret.tsx'
import { texts } from './sources-texts.ts'

export function SourcePage({ id }: { readonly id: string }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const read = useRead('/v1/ingest-sources/{id}', { path: { id } }, { isShown: true })
  const [isEnding, setEnding] = useState(false)
  const [isRotating, setRotating] = useState(false)
  const name = plain(read.data?.label || (read.data?.provider ?? ''))
  return (
    <>
      <TopBar
        title={name || common.bounceSources}
        heading={
          <>
            <a href={link('/incoming/sources')}>{common.bounceSources}</a>
            <span class="cut">{name}</span>
          </>
        }
      />
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.sourcesFailed}>
          {(source) => (
            <div class="columns">
              <section aria-label={w.source}>
                <SourceFacts source={source} />
                <LastDay id={id} />
                <Unmatched source={source} />
                <Ignored lines={source.ignored_lines} />
                {source.provider === 'mailenable' && <Mappings sourceId={id} dropped={source.dropped_postoffices} />}
              </section>
              <aside aria-label={w.install}>
                {source.mode === 'push' && <Install source={source} />}
                {mayAdminister.value && (
                  <div class="block">
                    <div class="actions">
                      <button class="button" onClick={() => setRotating(true)}>
                        <Icon name="refresh" />
                        {common.rotateSecret}
                      </button>
                      <button class="button danger" onClick={() => setEnding(true)}>
                        {w.revokeSource}
                      </button>
                    </div>
                  </div>
                )}
              </aside>
            </div>
          )}
        </Show>
      </div>
      {isRotating && <RotateSecret id={id} name={name} onClose={() => setRotating(false)} />}
      {isEnding && (
        <EndDialog
          title={w.revokeSource}
          effects={[w.revokeSourceEffect]}
          name={name}
          submit={w.revokeSource}
          onClose={() => setEnding(false)}
          onSubmit={async () => {
            await call('DELETE /v1/ingest-sources/{id}', { path: { id } })
            toast(common.revoked({ name }))
            go(link('/incoming/sources'))
          }}
        />
      )}
    </>
  )
}

function SourceFacts({ source }: { readonly source: IngestSourceDetail }): JSX.Element {
  const w = texts()
  const { imap } = source
  const at = (time: string | null): string => (time === null ? w.neverSeen : longTime(time))
  const rows: readonly (readonly [name: string, value: string])[] = [
    [w.provider, source.provider],
    [w.lastSeen, at(source.last_seen_at)],
    ...(source.agent === null ? [] : [[w.agent, source.agent] as const]),
    ...(imap
      ? ([
          [w.mailbox, `${imap.username} @ ${imap.host}:${String(imap.port)} ${imap.mailbox}`],
          [w.polled, at(imap.last_polled_at)],
          [w.skipped, number(imap.skipped_mails)],
        ] as const)
      : []),
  ]
  return (
    <div class="block">
      <h2 class="status">
        <Mark name={healthMark(source.health)} />
        <SafeText text={source.label || source.provider} />
      </h2>
      {imap?.last_error != null && (
        <div class="note bad">
          <Mark name="failed" />
          <p>
            <b>{w.pollError}</b> <span class="faint">{imap.last_error_at === null ? '' : shortTime(imap.last_error_at)}</span>
            <br />
            <span lang="en">
              <SafeText text={imap.last_error} />
            </span>
          </p>
        </div>
      )}
      <HealthLine health={source.health} />
      <Facts rows={rows} />
    </div>
  )
}

function Unmatched({
  source: { unmatched, domain_complaints: complaints, last_seen_at: seen },
}: {
  readonly source: IngestSourceDetail
}): JSX.Element {
  const w = texts()
  const counts = (['bounced', 'complained', 'deferred', 'delivered'] as const).filter((type) => unmatched[type] > 0)
  return (
    <>
      <div class="block">
        <h2>{w.unmatched}</h2>
        {counts.length === 0 ? (
          <p class="soft">{seen === null ? w.neverSeen : w.unmatchedNone}</p>
        ) : (
          <p>{counts.map((type) => `${type} ${number(unmatched[type])}`).join(' · ')}</p>
        )}
        <ul class="recipients">
          {unmatched.latest.map(({ type, recipient, diagnostic, at }, i) => (
            <li key={i}>
              <span class="status">
                <Mark name={type} />
                <SafeText text={recipient ?? '–'} />
              </span>
              <span class="faint">{shortTime(at)}</span>
              {diagnostic !== null && (
                <div class="wire">
                  <SafeText text={diagnostic} />
                </div>
              )}
            </li>
          ))}
        </ul>
      </div>
      {complaints.length > 0 && (
        <div class="block">
          <h2>{w.complaints}</h2>
          <dl class="facts">
            {complaints.map(({ domain, complaints: count, last_at: at }) => (
              <>
                <dt>{domain}</dt>
                <dd>
                  {number(count)} <span class="faint">{shortTime(at)}</span>
                </dd>
              </>
            ))}
          </dl>
        </div>
      )}
    </>
  )
}

/** Log lines that contain no report. They reveal a log shipper that sends the wrong log. */
function Ignored({ lines: found }: { readonly lines: IngestSourceDetail['ignored_lines'] }): JSX.Element | null {
  const w = texts()
  if (found.length === 0) return null
  return (
    <div class="block">
      <h2>{w.ignored}</h2>
      {found.map(({ reason, lines, last_at: at, first }) => (
        <div key={reason}>
          <p>
            {w.ignoredReasons[reason]} {number(lines)} <span class="faint">{shortTime(at)}</span>
          </p>
          {first.length > 0 && <p class="faint">{w.ignoredFirst}</p>}
          {first.map((text, i) => (
            <div class="wire" key={i}>
              <SafeText text={text} />
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}

/** Installation script with the URL of this source. It never contains the secret. */
function Install({ source }: { readonly source: IngestSourceDetail }): JSX.Element {
  const w = texts()
  const address = new URL(source.webhook_url, boot.baseUrl).href
  const { place, text } = snippetOf(source.provider, address)
  return (
    <div class="block">
      <h2>{w.install}</h2>
      <p class="soft">{w.installText}</p>
      <p class="faint mono">{place}</p>
      <pre class="code wrap" tabIndex={0}>
        {text}
      </pre>
      <div class="actions">
        <button class="button small" onClick={() => void copy(text)}>
          <Icon name="copy" />
          {allTexts().copy}
        </button>
      </div>
    </div>
  )
}
