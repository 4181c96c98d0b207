/** File names in the forms of real mail clients. */
import test from '#test'
import { parametersOf, parameterText } from '#ingest/mime/engine/parameters.ts'

const names: readonly (readonly [title: string, given: string, expected: string])[] = [
  ['a plain name', 'filename=a.txt', 'a.txt'],
  ['quotes and backslashes', String.raw`FileName="a \"b\" ;c.txt"`, 'a "b" ;c.txt'],
  ['blanks around the equals sign', 'filename = a b.txt ; size=3', 'a b.txt'],
  ['encoded words over two lines', 'filename="=?utf-8?Q?M=C3?= =?utf-8?Q?=BCll.pdf?="', 'Müll.pdf'],
  ['encoded words of a stateful charset', 'filename="=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?= =?ISO-2022-JP?B?GyRCOGwbKEIudHh0?="', '日本語.txt'],
  ['an extended name', "filename*=UTF-8''M%C3%BCll%20%25.pdf; filename=x.pdf", 'Müll %.pdf'],
  ['an extended name in another charset', "filename*=ks_c_5601-1987''%C7%D1.pdf", '한.pdf'],
  ['an extended name whose charset does not fit', "filename*=utf-8''M%FCll.pdf", 'Müll.pdf'],
  ['an extended name without a charset', 'filename*=M%C3%BCll.pdf', 'Müll.pdf'],
  ['an extended name with raw letters', "filename*=utf-8''Mü%C3%BC.pdf", 'Müü.pdf'],
  ['a continued name in any order', 'filename*1="b.txt"; filename*0="a "', 'a b.txt'],
  ['a character over two segments', "filename*0*=utf-8''M%C3; filename*1*=%BC; filename*2=ll%41.pdf", 'Müll%41.pdf'],
  ['segments that count from 1', 'filename*1=a; filename*2=.txt', 'a.txt'],
  ['encoded words over segments', 'filename*0="=?utf-8?Q?M=C3=BC"; filename*1="ll.pdf?="', 'Müll.pdf'],
  ['control characters, which safe names drop', 'filename="=?utf-8?Q?a=00=0Ab.txt?="', 'a\0\nb.txt'],
  ['blanks at the edges of segments', 'filename*0="a"; filename*1=" b"; filename*2=" .txt"', 'a b .txt'],
  ['a path from Windows', String.raw`filename="C:\TEMP\new\a \"b\".txt"`, String.raw`C:\TEMP\new\a "b".txt`],
  ['a segment that is missing', 'filename*0=a; filename*2=c', 'a'],
  ['no name', 'size=3', ''],
]

for (const [title, given, expected] of names)
  test(`parameterText() reads ${title}`, (t) => t.is(parameterText(parametersOf(`attachment; ${given}`), 'filename'), expected))
