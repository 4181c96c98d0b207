/** Confirmation text after a submission, with variants by answer. */
import type { JSX } from 'preact'
import type { Definition, ThankYou } from '#core/forms/definition/definition.ts'
import { inReadingOrder } from '#core/forms/definition/layout.ts'
import { mayChange } from '../app/permissions.ts'
import { DraftFrame, showable } from '../form-designer/draft-frame.tsx'
import { ConditionChips, firstOf, isLookedAt } from '../form-logic/condition.tsx'
import type { PartProps } from '../forms/part-props.ts'
import { TextField } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts } from './parts-texts.ts'

export default function ThanksPart({ editing }: PartProps): JSX.Element {
  const w = texts()
  const { definition, change, check } = editing
  const { thank_you: thanks } = definition
  const set = (changes: Partial<ThankYou>, place = ''): void =>
    change((before) => ({ ...before, thank_you: { ...before.thank_you, ...changes } }), place)
  const faultOf = (path: string): string | undefined => check.errors.find((one) => one.path === `thank_you.${path}`)?.message
  const shown = showable(definition)
  return (
    <div class="halves form-halves">
      <section class="form-sheet" aria-label={w.views.thanks} tabIndex={mayChange.value ? undefined : 0}>
        <fieldset class="form" disabled={!mayChange.value}>
          <TextField label={w.thanksTitle} value={thanks.title} onChange={(title) => set({ title }, 'title')} fault={faultOf('title')} />
          <TextField label={w.thanksBody} isLong value={thanks.body} onChange={(body) => set({ body }, 'body')} fault={faultOf('body')} />
          <TextField
            label={w.redirect}
            hint={w.redirectHint}
            type="url"
            value={thanks.redirect_url ?? ''}
            onChange={(url) => set({ redirect_url: url === '' ? null : url }, 'redirect')}
            fault={faultOf('redirect_url')}
          />
          <Variants definition={definition} set={set} />
        </fieldset>
      </section>
      <section class="canvas" aria-label={w.livePreview}>
        <div class="stage" tabIndex={0} role="group" aria-label={w.livePreview}>
          {shown && (
            <div class="drawn">
              <DraftFrame definition={shown.definition} view="thanks" title={w.livePreview} isStill />
            </div>
          )}
        </div>
      </section>
    </div>
  )
}

interface VariantsProps {
  readonly definition: Definition
  readonly set: (changes: Partial<ThankYou>, place?: string) => void
}

function Variants({ definition, set }: VariantsProps): JSX.Element | null {
  const w = texts()
  const fields = inReadingOrder(definition.schema).filter(isLookedAt)
  const { variants, title, body } = definition.thank_you
  const [first] = fields
  if (!first) return null
  return (
    <div class="variants">
      <h2>{w.variants}</h2>
      <p class="faint">{w.variantsText}</p>
      {variants.map((variant, at) => {
        const put = (changes: Partial<typeof variant>): void =>
          set({ variants: variants.with(at, { ...variant, ...changes }) }, `variant ${String(at)}`)
        return (
          <section key={at} aria-label={w.variant({ n: at + 1 })}>
            <div class="chips">
              <span class="chip-word strong">{w.only}</span>
              <ConditionChips condition={variant.when} fields={fields} onChange={(when) => put({ when })} />
            </div>
            <TextField label={w.thanksTitle} value={variant.title} onChange={(next) => put({ title: next })} />
            <TextField label={w.thanksBody} isLong value={variant.body} onChange={(next) => put({ body: next })} />
            <button type="button" class="button quiet small" onClick={() => set({ variants: variants.toSpliced(at, 1) })}>
              <Icon name="trash" />
              {w.removeVariant({ n: at + 1 })}
            </button>
          </section>
        )
      })}
      {variants.length < 20 && (
        <button type="button" class="button" onClick={() => set({ variants: [...variants, { when: firstOf(first), title, body }] })}>
          <Icon name="plus" />
          {w.addVariant}
        </button>
      )}
    </div>
  )
}
