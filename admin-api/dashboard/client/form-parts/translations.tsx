/** Editor for translations of the form texts, next to the original texts. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Definition } from '#core/forms/definition/definition.ts'
import { localePattern, textsOf } from '#core/forms/definition/translations.ts'
import { mayChange } from '../app/permissions.ts'
import type { Editing } from '../forms/use-draft.ts'
import { TextField } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { texts } from './parts-texts.ts'

type Texts = Definition['translations'][string]

export function Translations({ editing: { definition, change } }: { readonly editing: Editing }): JSX.Element {
  const w = texts()
  const [fresh, setFresh] = useState('')
  const { translations } = definition
  const put = (next: Definition['translations'], place = ''): void => change((before) => ({ ...before, translations: next }), place)
  const isNew = localePattern.test(fresh) && !Object.hasOwn(translations, fresh) && fresh !== definition.locale
  const rows = [...textsOf(definition)].filter(([, text]) => text !== '')
  return (
    <section class="form translations" aria-label={w.translations}>
      <h2>{w.translations}</h2>
      <p class="faint">{w.translationsText}</p>
      {Object.entries(translations).map(([locale, own]) => (
        <details key={locale}>
          <summary>
            <b>{locale}</b>{' '}
            <span class="faint">{w.translated({ done: rows.filter(([place]) => own[place] !== undefined).length, all: rows.length })}</span>
          </summary>
          <TextTable
            rows={rows}
            own={own}
            lang={locale}
            onChange={(next, place) => put({ ...translations, [locale]: next }, `${locale} ${place}`)}
          />
          {mayChange.value && (
            <button
              type="button"
              class="button quiet small"
              onClick={() => put(Object.fromEntries(Object.entries(translations).filter(([one]) => one !== locale)))}
            >
              <Icon name="trash" />
              {w.removeLanguage({ language: locale })}
            </button>
          )}
        </details>
      ))}
      {mayChange.value && (
        <div class="pair">
          <TextField label={w.newLanguage} value={fresh} onChange={setFresh} isMono />
          <div class="actions">
            <button
              type="button"
              class="button"
              aria-disabled={!isNew}
              onClick={() => {
                if (!isNew) return
                put({ ...translations, [fresh]: {} })
                setFresh('')
              }}
            >
              <Icon name="plus" />
              {w.addLanguage}
            </button>
          </div>
        </div>
      )}
    </section>
  )
}

interface TableProps {
  readonly rows: readonly (readonly [place: string, text: string])[]
  readonly own: Texts
  readonly lang: string
  readonly onChange: (texts: Texts, place: string) => void
}

const TextTable = ({ rows, own, lang, onChange }: TableProps): JSX.Element => (
  <ul>
    {rows.map(([place, text]) => (
      <li key={place}>
        <span>
          <SafeText text={text} />
          <code class="faint">{place}</code>
        </span>
        <textarea
          class="input"
          rows={1}
          lang={lang}
          aria-label={`${lang}: ${place}`}
          value={own[place] ?? ''}
          onInput={(event) => {
            const typed = event.currentTarget.value
            const { [place]: _gone, ...others } = own
            onChange(typed === '' ? others : { ...others, [place]: typed }, place)
          }}
        />
      </li>
    ))}
  </ul>
)
