<?php
// The letter as a message of Symfony Mailer.
require_once 'Symfony/Component/Mailer/autoload.php';

function letter(string $from, string $name = ''): Symfony\Component\Mime\Email
{
    return (new Symfony\Component\Mime\Email())
        ->from(new Symfony\Component\Mime\Address($from, $name))
        ->to(getenv('LETTER_TO'))
        ->bcc(getenv('LETTER_BCC'))
        ->subject(getenv('LETTER_SUBJECT'))
        ->text(getenv('LETTER_TEXT'))
        ->html(getenv('LETTER_HTML'))
        ->attachFromPath(getenv('LETTER_FILE'), getenv('LETTER_NAME'), 'application/pdf');
}
