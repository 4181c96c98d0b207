/** Description of webhook endpoints: list, form and menu. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { link } from '../app/location.ts'
import { HealthStrip } from '../health/health-strip.tsx'
import { healthMark } from '../health/resource-health.tsx'
import { Moment } from '../parts/list.tsx'
import { plain } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import { resource } from '../resource/description.ts'
import { texts } from '../texts/texts.ts'
import type { WebhookEndpoint } from '../wire/api.d.ts'
import { formatHint, formatOptions } from './formats.ts'
import { daysShown, healthOfDay, successOf, totalsOf } from './last-day.tsx'
import { Summary } from './summary.tsx'
import { texts as own } from './webhooks-texts.ts'

/** The health, and never the switch: a paused endpoint has no other state. */
const markOf = ({ paused, health }: WebhookEndpoint): string => (paused ? 'paused' : healthMark(health))

/** Says how the receiver answers. */
function Answers({ of: { paused, health } }: { readonly of: WebhookEndpoint }): JSX.Element | string {
  const w = own()
  const { state, since, last_reply: reply } = health
  if (paused) return w.pausedState
  if (reply === null || reply === 'not_sent') return w.noEventsYet
  const isBad = state === 'failing'
  const said = reply === 'no_response' ? w.noAnswer : w.answers({ code: reply })
  return (
    <span class={isBad ? 'bad' : ''}>
      {said}
      {isBad && since !== null && (
        <>
          {' '}
          {w.sinceThen} <Moment at={since} isNarrow />
        </>
      )}
    </span>
  )
}

function Strip({ id, name }: WebhookEndpoint): JSX.Element {
  const day = daysShown.value?.get(id)
  return <HealthStrip health={healthOfDay(id, day)} label={`${plain(name)}: ${day ? successOf(day.totals) : texts().noAttempts}`} />
}

function Parked({ id }: WebhookEndpoint): JSX.Element {
  const { parked } = totalsOf(daysShown.value?.get(id))
  return <span class={parked > 0 ? 'bad' : ''}>{number(parked)}</span>
}

export const endpoints = resource({
  path: '/v1/webhooks',
  title: () => texts().webhooks,
  failure: () => texts().endpointsFailed,
  change: 'developer',
  isOfProject: true,
  above: Summary,
  name: ({ name }) => name,
  mark: markOf,
  open: ({ id }) => link(`/settings/webhooks/${id}`),
  columns: [
    {
      head: () => texts().endpoint,
      kind: 'name',
      cell: ({ name }) => name,
      under: ({ target_url: url }) => url.replace(/^https:\/\//, ''),
    },
    {
      head: () => texts().eventsWord,
      kind: 'text',
      cell: ({ event_types: types }) => (types.length === 0 ? texts().everyEvent : types.join(', ')),
      narrow: 'none',
    },
    { head: () => own().strip, kind: 'strip', cell: (row) => <Strip {...row} /> },
    { head: () => own().lastAnswer, kind: 'status', cell: (row) => <Answers of={row} /> },
    { head: () => own().parkedShort, kind: 'number', cell: (row) => <Parked {...row} />, narrow: 'none' },
  ],
  form: {
    begin: (row?: WebhookEndpoint) => ({
      name: row?.name ?? '',
      target_url: row?.target_url ?? '',
      format: row?.format ?? ('native' as const),
      event_types: [...(row?.event_types ?? [])],
    }),
    fields: [
      { name: 'name', label: () => texts().name, type: 'text' },
      { name: 'target_url', label: () => texts().endpoint, type: 'url' },
      { name: 'format', label: () => own().format, type: { choose: () => formatOptions }, hint: ({ format }) => formatHint(format) },
      {
        name: 'event_types',
        label: () => texts().eventsHint,
        type: { tick: ['delivered', 'bounced', 'complained', 'failed', 'auto_suppressed'] },
      },
    ],
    create: {
      label: () => texts().newEndpoint,
      submit: () => texts().create,
      body: (draft) => draft,
      secret: ({ name, hmac_secret: secret }) => ({
        title: texts().secretOf({ name: plain(name) }),
        fields: [['hmac_secret', secret]],
        note: texts().webhookNote,
      }),
    },
    update: { label: () => own().edit, body: (draft) => draft, done: () => own().saved },
  },
  actions: [
    {
      label: ({ paused }) => (paused ? own().resume : own().pause),
      run: ({ id, paused }) => call('PATCH /v1/webhooks/{id}', { path: { id }, body: { paused: !paused } }),
      done: ({ paused }) => (paused ? own().resumedNow : own().pausedNow),
      undo: ({ id, paused }) => call('PATCH /v1/webhooks/{id}', { path: { id }, body: { paused } }),
    },
  ],
  remove: {
    label: () => own().remove,
    done: ({ name }) => texts().deleted({ name: plain(name) }),
    how: { effects: () => [own().removeEffect] },
  },
  empty: { title: () => texts().noEndpoints, text: () => texts().noEndpointsText },
})
