/** Finds the tags of a template in one pass, even if many tags are never closed. */

export interface MarkForm {
  readonly open: string
  readonly close: string
  readonly kind: 'raw' | 'plain' | 'statement' | 'comment'
  /** Pattern for the code; if it does not match, the tag is literal text. */
  readonly like?: RegExp
}

export interface Mark extends Pick<MarkForm, 'kind'> {
  readonly code: string
  readonly at: number
  readonly end: number
}

/** Longer opening braces come first. */
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

/** Yields the tags in the order of the source. */
export function* marks(source: string, forms: readonly MarkForm[]): Generator<Mark> {
  const never = new Set<MarkForm>() // forms whose closing mark does not occur again in the source
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
