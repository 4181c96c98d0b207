/** Finds what stands between braces in a template, in one pass whatever is never closed. */

export interface MarkForm {
  readonly open: string
  readonly close: string
  readonly kind: 'raw' | 'plain' | 'statement' | 'comment'
  /** What else its code must be like; otherwise it is text. */
  readonly like?: RegExp
}

export interface Mark extends Pick<MarkForm, 'kind'> {
  readonly code: string
  readonly at: number
  readonly end: number
}

/** The longest beginning comes first. */
export const braceForms: readonly MarkForm[] = [
  { open: '{{!--', close: '--}}', kind: 'comment' },
  { open: '{{~!--', close: '--}}', kind: 'comment' },
  { open: '{{{', close: '}}}', kind: 'raw' },
  { open: '{{', close: '}}', kind: 'plain' },
]

export const statementForms: readonly MarkForm[] = [
  { open: '{{{', close: '}}}', kind: 'raw' },
  { open: '{{', close: '}}', kind: 'plain' },
  { open: '{%', close: '%}', kind: 'statement' },
  { open: '{#', close: '#}', kind: 'comment' },
  { open: '{$', close: '}', kind: 'plain', like: /^[\w.]{1,100}$/ },
]

/** In the order in which they come. */
export function* marks(source: string, forms: readonly MarkForm[]): Generator<Mark> {
  const never = new Set<MarkForm>() // their closes come no more
  let at = source.indexOf('{')
  while (at >= 0) {
    const form = forms.find((one) => !never.has(one) && source.startsWith(one.open, at))
    const end = form ? source.indexOf(form.close, at + form.open.length) : -1
    if (form && end < 0) {
      never.add(form)
      continue
    }
    const code = form ? source.slice(at + form.open.length, end) : ''
    if (!form || (form.like && !form.like.test(code))) {
      at = source.indexOf('{', at + 1)
      continue
    }
    yield { kind: form.kind, code, at, end: end + form.close.length }
    at = source.indexOf('{', end + form.close.length)
  }
}
