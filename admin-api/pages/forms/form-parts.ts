/** Divides a form into letterhead, steps, and the text below the button. */
import type { Field } from '#core/forms/definition/definition.ts'
import type { PlacedRow } from '#core/forms/definition/layout.ts'
import type { Step } from './form-rows.ts'
import { isQuestion, type FormView } from './form-view.ts'

export interface Parts {
  /** Leading texts and images, which precede all questions. */
  readonly intro: readonly Field[]
  readonly steps: readonly Step[]
  /** Texts after the last question. */
  readonly finePrint: readonly Field[]
}

export function partsOf({ form, pages, conditions, texts }: FormView): Parts {
  const rows = pages.flatMap((page) => page.rows)
  const isFree = ({ key }: Field): boolean => conditions.of(key).shown.length === 0
  const [before, after] = [
    leading(rows, (field) => (field.type === 'paragraph' || field.type === 'image') && isFree(field)),
    leading(rows.toReversed(), (field) => field.type === 'paragraph' && isFree(field)),
  ]
  const hasQuestions = form.schema.fields.some((field) => isQuestion(field))
  const moved = new Set(hasQuestions ? [...before, ...after] : [])
  const shown = pages.flatMap((page) => {
    const left = page.rows.filter((row) => !moved.has(row))
    return left.length === 0 ? [] : [{ page, rows: left }]
  })
  return {
    intro: hasQuestions ? before.flatMap(fieldsOf) : [],
    finePrint: hasQuestions ? after.toReversed().flatMap(fieldsOf) : [],
    steps: shown.map(({ page, rows: left }, at) => ({
      ...{ number: at + 1, page, rows: left },
      title: page.start?.title ?? texts.step({ number: at + 1 }),
    })),
  }
}

const fieldsOf = (row: PlacedRow): readonly Field[] => row.map(({ field }) => field)

/** Returns the leading rows whose fields all match. */
function leading(rows: readonly PlacedRow[], is: (field: Field) => boolean): readonly PlacedRow[] {
  const end = rows.findIndex((row) => !row.every(({ field }) => is(field)))
  return end === -1 ? rows : rows.slice(0, end)
}
