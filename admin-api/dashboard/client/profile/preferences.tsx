/** Browser settings of the user: theme, language and single-key shortcuts. */
import type { JSX } from 'preact'
import { Segments } from '../parts/controls.tsx'
import { toast } from '../parts/toast.tsx'
import { language, languages, type Language } from '../texts/language.ts'
import { speak } from '../texts/catalog.ts'
import { texts } from '../texts/shell-texts.ts'
import { keepLanguage, setShortcuts, setTheme, shortcuts, theme } from '../app/settings.ts'

const names: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch', fr: 'Français', it: 'Italiano' }

const choose = (next: Language): void => {
  keepLanguage(next)
  speak(next).catch(() => toast(texts().notLoaded))
}

export function Preferences(): JSX.Element {
  const w = texts()
  return (
    <>
      <h3>{w.theme}</h3>
      <Segments
        label={w.theme}
        value={theme.value}
        onChoose={setTheme}
        choices={[
          { value: 'system', label: w.themeSystem },
          { value: 'light', label: w.themeLight },
          { value: 'dark', label: w.themeDark },
        ]}
      />
      <h3>{w.language}</h3>
      <select
        class="input"
        aria-label={w.language}
        value={language.value}
        onChange={(event) => choose(event.currentTarget.value as Language)}
      >
        {languages.map((one) => (
          <option key={one} value={one} lang={one}>
            {names[one]}
          </option>
        ))}
      </select>
      <label class="check">
        <input type="checkbox" checked={shortcuts.value} onChange={(event) => setShortcuts(event.currentTarget.checked)} />
        {w.singleKeys}
      </label>
    </>
  )
}
