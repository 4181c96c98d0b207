/** Preview of the form with the selected field marked. A click selects a field; dragged fields can be dropped between rows. */
import type { JSX } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Field } from '#core/forms/definition/definition.ts'
import { pagesOf, type FormPage } from '#core/forms/definition/layout.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { Segments } from '../parts/controls.tsx'
import { rulesAbout } from '../form-fields/shown-when.tsx'
import { titleOf } from '../form-fields/field-kinds.ts'
import { plain } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import type { ListedForm } from '../wire/api.d.ts'
import type { Editing } from '../forms/use-draft.ts'
import { choose, type FieldActions } from './actions.ts'
import { texts } from './designer-texts.ts'
import { DraftFrame, showable } from './draft-frame.tsx'
import { dragged, dropBefore } from './dragging.ts'
import { Tools } from './outline.tsx'
import { keysByRow } from './rows.ts'

interface CanvasProps {
  readonly form: ListedForm
  readonly editing: Editing
  readonly actions: FieldActions
  readonly chosen: Field | undefined
}

interface Box {
  readonly top: number
  readonly left: number
  readonly width: number
  readonly height: number
}

type Boxes = ReadonlyMap<string, Box>

/** Returns the position of each visible field on the page. A step has the position of its title. */
function boxesOn(page: Document): Boxes {
  const marked = [...page.querySelectorAll<HTMLElement>('[data-key]')].filter((one) => one.offsetParent !== null)
  return new Map(
    marked.map((one) => {
      const part = one.matches('section') ? (one.querySelector('h2') ?? one) : one
      const { top, left, width, height } = part.getBoundingClientRect()
      return [one.dataset['key'] ?? '', { top, left, width, height }]
    }),
  )
}

const isSame = (a: Boxes, b: Boxes): boolean => JSON.stringify([...a]) === JSON.stringify([...b])

/** Shrinks the header of the form, to leave room for the fields. */
function quieten(page: Document): void {
  for (const one of page.querySelectorAll<HTMLElement>('.intro, .facts')) one.hidden = true
  const [title] = page.querySelectorAll('h1')
  if (title) title.style.fontSize = '1.5rem'
}

/** Shows one step, as for visitors with JavaScript, or all steps, as for visitors without. */
function showStep(page: Document, step: number | undefined): void {
  for (const section of page.querySelectorAll<HTMLElement>('section.step'))
    section.hidden = step !== undefined && section.dataset['page'] !== String(step)
}

export function Canvas(props: CanvasProps): JSX.Element {
  const { editing, chosen } = props
  const w = texts()
  const [boxes, setBoxes] = useState<Boxes>(new Map())
  const [page, setPage] = useState<Document>()
  const isPhone = query.value.get('view') === 'phone'
  const shown = showable(editing.definition)
  const pages = pagesOf(editing.definition.schema)
  const step = shownStep(pages, chosen)
  const note = useCallback(
    (drawn: Document) => {
      quieten(drawn)
      showStep(drawn, step)
      setPage(drawn)
      const next = boxesOn(drawn)
      setBoxes((before) => (isSame(before, next) ? before : next))
    },
    [step],
  )
  useEffect(() => {
    if (page) note(page)
  }, [note])
  return (
    <section class="canvas" aria-label={w.preview}>
      <div class="reader-bar">
        {pages.length > 1 && <StepSwitch pages={pages} step={step} />}
        <Segments
          label={w.width}
          value={isPhone ? 'phone' : 'desktop'}
          onChoose={(next) => go(linkHere({ view: next === 'phone' ? 'phone' : '' }), { replaces: true })}
          choices={[
            { value: 'desktop', label: w.desktop, icon: 'desktop' },
            { value: 'phone', label: w.phone, icon: 'phone' },
          ]}
        />
        {shown && !shown.isWhole && <span class="tag warn">{w.stale}</span>}
      </div>
      {shown ? (
        <div class="stage" tabIndex={0} role="group" aria-label={w.framed}>
          <div class={isPhone ? 'drawn phone' : 'drawn'}>
            <DraftFrame definition={shown.definition} title={w.framed} isStill onShown={note} />
            <Over boxes={boxes} {...props} />
          </div>
          <p class="faint stage-note">{w.canvasHint}</p>
        </div>
      ) : (
        <State title={w.noFields} text={w.noFieldsText} />
      )}
    </section>
  )
}

/** Returns the step of the selected field if the designer shows single steps. Undefined shows all steps. */
function shownStep(pages: readonly FormPage[], chosen: Field | undefined): number | undefined {
  const wanted = pages.find(({ number }) => String(number) === query.value.get('step'))
  if (!wanted || pages.length === 1) return undefined
  const has = ({ start, rows }: FormPage): boolean =>
    start?.key === chosen?.key || rows.some((row) => row.some(({ field }) => field.key === chosen?.key))
  return (chosen ? (pages.find(has) ?? wanted) : wanted).number
}

function StepSwitch({ pages, step }: { readonly pages: readonly FormPage[]; readonly step: number | undefined }): JSX.Element {
  const w = texts()
  const titles = pages.map(({ number, start }) => [String(number), plain(start?.title ?? '') || w.step({ n: number })] as const)
  return (
    <label class="step-switch">
      <span class="hidden">{w.shownStep}</span>
      <select
        class="input"
        value={step === undefined ? '' : String(step)}
        onChange={(event) => go(linkHere({ step: event.currentTarget.value, field: '' }), { replaces: true })}
      >
        <option value="">{w.allSteps}</option>
        {titles.map(([number, title]) => (
          <option key={number} value={number}>
            {`${number} · ${title}`}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Layer over the page that handles clicks and drops, because the page itself is inert. */
function Over({ boxes, form, editing, actions, chosen }: CanvasProps & { readonly boxes: Boxes }): JSX.Element {
  const w = texts()
  const layer = useRef<HTMLDivElement>(null)
  const [drop, setDrop] = useState<{ readonly before: number; readonly top: number }>()
  const box = chosen && boxes.get(chosen.key)
  const [rule] = chosen ? rulesAbout(editing.definition, chosen.key) : []
  useEffect(() => {
    layer.current?.querySelector('.chosen-box')?.scrollIntoView({ block: 'nearest' })
  }, [chosen?.key, box?.top])
  const pointOf = (event: MouseEvent): readonly [x: number, y: number] => {
    const { left = 0, top = 0 } = layer.current?.getBoundingClientRect() ?? {}
    return [event.clientX - left, event.clientY - top]
  }
  const pick = (event: MouseEvent): void => {
    if (event.target !== layer.current) return
    const [x, y] = pointOf(event)
    const hit = [...boxes].find(([, one]) => x >= one.left && x <= one.left + one.width && y >= one.top && y <= one.top + one.height)
    if (hit) choose(hit[0])
  }
  const aim = (event: DragEvent): void => {
    if (!dragged.value) return
    event.preventDefault()
    const [, y] = pointOf(event)
    let place = { before: 0, top: Math.min(...[...boxes.values()].map(({ top }) => top)) }
    for (const [row, keys] of keysByRow(editing.definition.schema).entries()) {
      const found = keys.flatMap((key) => boxes.get(key) ?? [])
      const [first] = found
      const end = Math.max(...found.map(({ top, height }) => top + height))
      if (first && (first.top + end) / 2 < y) place = { before: row + 1, top: end }
    }
    if (place.before !== drop?.before) setDrop(place)
  }
  return (
    <div
      class="over-page"
      ref={layer}
      onClick={pick}
      onDragOver={aim}
      onDragLeave={(event) => event.target === layer.current && setDrop(undefined)}
      onDrop={(event) => {
        event.preventDefault()
        if (drop) dropBefore(actions, drop.before)
        setDrop(undefined)
      }}
    >
      {box && (
        <div class="chosen-box" style={placed(box, 9)}>
          <span class="chosen-name">{w.chosen({ type: w.types[chosen.type], key: chosen.key })}</span>
          {mayChange.value && <Tools field={chosen} actions={actions} />}
          {rule && (
            <a class="chosen-rule" href={link(`/forms/${form.id}/logic`)}>
              {w.shownByRule({ n: rule.n })}
            </a>
          )}
        </div>
      )}
      {drop && (
        <div class="drop-bar" style={{ top: `${String(drop.top)}px` }}>
          {w.dropHere({ name: draggedName(editing) })}
        </div>
      )}
    </div>
  )
}

/** Returns the display name of the dragged item. */
function draggedName({ definition }: Editing): string {
  const what = dragged.value
  if (!what) return ''
  if ('type' in what) return texts().types[what.type]
  const field = definition.schema.fields.find(({ key }) => key === what.key)
  return field ? plain(titleOf(field)) : ''
}

const placed = ({ top, left, width, height }: Box, by: number) => ({
  ...{ top: `${String(top - by)}px`, left: `${String(left - by)}px` },
  ...{ width: `${String(width + 2 * by)}px`, height: `${String(height + 2 * by)}px` },
})
