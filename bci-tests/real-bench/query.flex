/* A scanner for a query language: many keywords in any case, Unicode names, dates, counted repetitions. */
%%
%class Query
%public
%unicode
%caseless
%standalone
%state TEXT
%state COMMENT

Letter = [:letter:]
Digit = [:digit:]
Name = {Letter} ({Letter} | {Digit} | [_$]){0,520}
Date = {Digit}{4} "-" {Digit}{2} "-" {Digit}{2}
Time = {Digit}{2} ":" {Digit}{2} (":" {Digit}{2} ("." {Digit}{1,9})?)?
Hex = [0-9a-f]
Uuid = {Hex}{8} "-" {Hex}{4} "-" {Hex}{4} "-" {Hex}{4} "-" {Hex}{12}
Number = {Digit}+ ("." {Digit}*)? ("e" [+-]? {Digit}{1,4})?
Address = {Digit}{1,3} "." {Digit}{1,3} "." {Digit}{1,3} "." {Digit}{1,3}

%%
<YYINITIAL> {
  "select" { System.out.println("keyword " + yytext()); }
  "from" { System.out.println("keyword " + yytext()); }
  "where" { System.out.println("keyword " + yytext()); }
  "group" { System.out.println("keyword " + yytext()); }
  "order" { System.out.println("keyword " + yytext()); }
  "by" { System.out.println("keyword " + yytext()); }
  "having" { System.out.println("keyword " + yytext()); }
  "union" { System.out.println("keyword " + yytext()); }
  "all" { System.out.println("keyword " + yytext()); }
  "distinct" { System.out.println("keyword " + yytext()); }
  "insert" { System.out.println("keyword " + yytext()); }
  "into" { System.out.println("keyword " + yytext()); }
  "values" { System.out.println("keyword " + yytext()); }
  "update" { System.out.println("keyword " + yytext()); }
  "set" { System.out.println("keyword " + yytext()); }
  "delete" { System.out.println("keyword " + yytext()); }
  "create" { System.out.println("keyword " + yytext()); }
  "table" { System.out.println("keyword " + yytext()); }
  "index" { System.out.println("keyword " + yytext()); }
  "view" { System.out.println("keyword " + yytext()); }
  "drop" { System.out.println("keyword " + yytext()); }
  "alter" { System.out.println("keyword " + yytext()); }
  "add" { System.out.println("keyword " + yytext()); }
  "column" { System.out.println("keyword " + yytext()); }
  "constraint" { System.out.println("keyword " + yytext()); }
  "primary" { System.out.println("keyword " + yytext()); }
  "foreign" { System.out.println("keyword " + yytext()); }
  "key" { System.out.println("keyword " + yytext()); }
  "references" { System.out.println("keyword " + yytext()); }
  "unique" { System.out.println("keyword " + yytext()); }
  "check" { System.out.println("keyword " + yytext()); }
  "default" { System.out.println("keyword " + yytext()); }
  "null" { System.out.println("keyword " + yytext()); }
  "not" { System.out.println("keyword " + yytext()); }
  "and" { System.out.println("keyword " + yytext()); }
  "or" { System.out.println("keyword " + yytext()); }
  "in" { System.out.println("keyword " + yytext()); }
  "between" { System.out.println("keyword " + yytext()); }
  "like" { System.out.println("keyword " + yytext()); }
  "escape" { System.out.println("keyword " + yytext()); }
  "is" { System.out.println("keyword " + yytext()); }
  "exists" { System.out.println("keyword " + yytext()); }
  "any" { System.out.println("keyword " + yytext()); }
  "some" { System.out.println("keyword " + yytext()); }
  "case" { System.out.println("keyword " + yytext()); }
  "when" { System.out.println("keyword " + yytext()); }
  "then" { System.out.println("keyword " + yytext()); }
  "else" { System.out.println("keyword " + yytext()); }
  "end" { System.out.println("keyword " + yytext()); }
  "cast" { System.out.println("keyword " + yytext()); }
  "as" { System.out.println("keyword " + yytext()); }
  "join" { System.out.println("keyword " + yytext()); }
  "inner" { System.out.println("keyword " + yytext()); }
  "outer" { System.out.println("keyword " + yytext()); }
  "left" { System.out.println("keyword " + yytext()); }
  "right" { System.out.println("keyword " + yytext()); }
  "full" { System.out.println("keyword " + yytext()); }
  "cross" { System.out.println("keyword " + yytext()); }
  "natural" { System.out.println("keyword " + yytext()); }
  "on" { System.out.println("keyword " + yytext()); }
  "using" { System.out.println("keyword " + yytext()); }
  "limit" { System.out.println("keyword " + yytext()); }
  "offset" { System.out.println("keyword " + yytext()); }
  "fetch" { System.out.println("keyword " + yytext()); }
  "first" { System.out.println("keyword " + yytext()); }
  "next" { System.out.println("keyword " + yytext()); }
  "rows" { System.out.println("keyword " + yytext()); }
  "only" { System.out.println("keyword " + yytext()); }
  "with" { System.out.println("keyword " + yytext()); }
  "recursive" { System.out.println("keyword " + yytext()); }
  "begin" { System.out.println("keyword " + yytext()); }
  "commit" { System.out.println("keyword " + yytext()); }
  "rollback" { System.out.println("keyword " + yytext()); }
  "savepoint" { System.out.println("keyword " + yytext()); }
  "grant" { System.out.println("keyword " + yytext()); }
  "revoke" { System.out.println("keyword " + yytext()); }
  "to" { System.out.println("keyword " + yytext()); }
  "public" { System.out.println("keyword " + yytext()); }
  "trigger" { System.out.println("keyword " + yytext()); }
  "before" { System.out.println("keyword " + yytext()); }
  "after" { System.out.println("keyword " + yytext()); }
  "each" { System.out.println("keyword " + yytext()); }
  "row" { System.out.println("keyword " + yytext()); }
  "statement" { System.out.println("keyword " + yytext()); }
  "procedure" { System.out.println("keyword " + yytext()); }
  "function" { System.out.println("keyword " + yytext()); }
  "returns" { System.out.println("keyword " + yytext()); }
  "return" { System.out.println("keyword " + yytext()); }
  "declare" { System.out.println("keyword " + yytext()); }
  "handler" { System.out.println("keyword " + yytext()); }
  "for" { System.out.println("keyword " + yytext()); }
  "condition" { System.out.println("keyword " + yytext()); }
  "signal" { System.out.println("keyword " + yytext()); }
  "call" { System.out.println("keyword " + yytext()); }
  "if" { System.out.println("keyword " + yytext()); }
  "elseif" { System.out.println("keyword " + yytext()); }
  "while" { System.out.println("keyword " + yytext()); }
  "repeat" { System.out.println("keyword " + yytext()); }
  "until" { System.out.println("keyword " + yytext()); }
  "loop" { System.out.println("keyword " + yytext()); }
  "leave" { System.out.println("keyword " + yytext()); }
  "iterate" { System.out.println("keyword " + yytext()); }
  "collate" { System.out.println("keyword " + yytext()); }
  "character" { System.out.println("keyword " + yytext()); }
  "varchar" { System.out.println("keyword " + yytext()); }
  "integer" { System.out.println("keyword " + yytext()); }
  "smallint" { System.out.println("keyword " + yytext()); }
  "bigint" { System.out.println("keyword " + yytext()); }
  "decimal" { System.out.println("keyword " + yytext()); }
  "numeric" { System.out.println("keyword " + yytext()); }
  "float" { System.out.println("keyword " + yytext()); }
  "double" { System.out.println("keyword " + yytext()); }
  "precision" { System.out.println("keyword " + yytext()); }
  "boolean" { System.out.println("keyword " + yytext()); }
  "date" { System.out.println("keyword " + yytext()); }
  "time" { System.out.println("keyword " + yytext()); }
  "timestamp" { System.out.println("keyword " + yytext()); }
  "interval" { System.out.println("keyword " + yytext()); }
  "year" { System.out.println("keyword " + yytext()); }
  "month" { System.out.println("keyword " + yytext()); }
  "day" { System.out.println("keyword " + yytext()); }
  "hour" { System.out.println("keyword " + yytext()); }
  "minute" { System.out.println("keyword " + yytext()); }
  "second" { System.out.println("keyword " + yytext()); }
  "zone" { System.out.println("keyword " + yytext()); }
  "current_date" { System.out.println("keyword " + yytext()); }
  "current_time" { System.out.println("keyword " + yytext()); }
  "current_timestamp" { System.out.println("keyword " + yytext()); }
  "current_user" { System.out.println("keyword " + yytext()); }
  "session_user" { System.out.println("keyword " + yytext()); }
  "substring" { System.out.println("keyword " + yytext()); }
  "trim" { System.out.println("keyword " + yytext()); }
  "overlay" { System.out.println("keyword " + yytext()); }
  "position" { System.out.println("keyword " + yytext()); }
  "extract" { System.out.println("keyword " + yytext()); }
  "coalesce" { System.out.println("keyword " + yytext()); }
  "nullif" { System.out.println("keyword " + yytext()); }
  "partition" { System.out.println("keyword " + yytext()); }
  "over" { System.out.println("keyword " + yytext()); }
  "range" { System.out.println("keyword " + yytext()); }
  "unbounded" { System.out.println("keyword " + yytext()); }
  "preceding" { System.out.println("keyword " + yytext()); }
  "following" { System.out.println("keyword " + yytext()); }
  "window" { System.out.println("keyword " + yytext()); }
  "sequence" { System.out.println("keyword " + yytext()); }
  "generated" { System.out.println("keyword " + yytext()); }
  "always" { System.out.println("keyword " + yytext()); }
  "identity" { System.out.println("keyword " + yytext()); }
  "start" { System.out.println("keyword " + yytext()); }
  "increment" { System.out.println("keyword " + yytext()); }
  "minvalue" { System.out.println("keyword " + yytext()); }
  "maxvalue" { System.out.println("keyword " + yytext()); }
  "cycle" { System.out.println("keyword " + yytext()); }
  "temporary" { System.out.println("keyword " + yytext()); }
  "global" { System.out.println("keyword " + yytext()); }
  "local" { System.out.println("keyword " + yytext()); }
  "preserve" { System.out.println("keyword " + yytext()); }
  {Uuid}     { System.out.println("uuid " + yytext()); }
  {Date} ([ T] {Time} ("Z" | [+-] {Time})?)?  { System.out.println("moment " + yytext()); }
  {Time}     { System.out.println("time " + yytext()); }
  {Address}  { System.out.println("address " + yytext()); }
  {Number}   { System.out.println("number " + yytext()); }
  {Name}     { System.out.println("name " + yytext()); }
  "'"        { yybegin(TEXT); }
  "/*"       { yybegin(COMMENT); }
  "--" [^\r\n]* { }
  [^]        { }
}
<TEXT> {
  "''"       { }
  "'"        { yybegin(YYINITIAL); }
  [^']+      { System.out.println("text " + yytext()); }
}
<COMMENT> {
  "*/"       { yybegin(YYINITIAL); }
  [^]        { }
}
