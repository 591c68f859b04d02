grammar Arithmetic;

script : (statement NEWLINE)* EOF ;
statement : NAME '=' expression # assign | 'print' expression # print ;
expression
    : <assoc=right> expression '^' expression # power
    | expression op=('*' | '/') expression # product
    | expression op=('+' | '-') expression # sum
    | '(' expression ')' # nested
    | NAME '(' (expression (',' expression)*)? ')' # call
    | NUMBER # number
    | NAME # name
    ;
NAME : [a-zA-Z_] [a-zA-Z_0-9]* ;
NUMBER : [0-9]+ ('.' [0-9]+)? ;
NEWLINE : '\r'? '\n' ;
SPACE : [ \t]+ -> skip ;
COMMENT : '#' ~[\r\n]* -> skip ;
